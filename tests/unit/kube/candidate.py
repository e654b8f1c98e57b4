"""A candidate for the lease, as a process would be one: it works while it leads, and ends when it loses."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from etcd_operator.kube.lease import Election, LeaseLostError, Times
from tests.unit.kube.register import Wire
from tests.unit.kube.virtual_time import now

TIMES = Times(duration=15, renewal=10.0, retry=2.0)


@dataclass
class Candidate:
    wire: Wire
    identity: str
    begun: float | None = None
    ended: float | None = None
    lost: str = ""
    task: asyncio.Task[None] = field(init=False)

    def __post_init__(self) -> None:
        self.election = an_election(self.wire, self.identity)
        self.task = asyncio.create_task(self._live())

    async def _live(self) -> None:
        try:
            await self.election.lead(self._work)
        except LeaseLostError as error:
            self.lost = str(error)

    async def _work(self) -> None:
        self.begun = now()
        try:
            await asyncio.sleep(10**6)
        finally:
            self.ended = now()

    async def stop(self) -> None:
        self.task.cancel()
        await asyncio.wait({self.task})

    @property
    def leads(self) -> bool:
        return self.election.still_ours()


def an_election(wire: Wire, identity: str) -> Election:
    return Election(wire, namespace="ns", name="etcd-operator", identity=identity, times=TIMES, clock=now)
