"""Changes of who belongs to a cluster and who leads it: each one call to one member, that proves who it is first.

They go to the leader: a follower would pass a promotion on over HTTP and repeat it, and only the leader can hand over.
The one exception is the leader's own removal, which another member is asked for. Whatever has happened already, by a
call of an earlier turn whose answer was lost, counts as done.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from etcd_operator.cluster.dialling import Dialler
from etcd_operator.cluster.outcome import NotDoneError, told_by_etcd
from etcd_operator.etcd.errors import Reason, RefusedError
from etcd_operator.etcd.member import Member
from etcd_operator.plan import health
from etcd_operator.plan.steps import AddMember, MoveLeader, PromoteLearner, RemoveMember, SaveRaftSnapshots
from etcd_operator.plan.view import Answer, Identity, View

ENTRIES = 10_240  # etcd from 3.6 on saves a raft snapshot after each 10,000
IN_FLIGHT = 16
ENTRY_SECONDS = 5.0
LONGEST = 90.0  # seconds for all of them

Change = AddMember | PromoteLearner | RemoveMember | MoveLeader | SaveRaftSnapshots

ADDED = frozenset({Reason.PEER_URL_EXISTS, Reason.MEMBER_EXISTS})


@dataclass(frozen=True)
class Membership:
    view: View
    dial: Dialler

    async def add(self, step: AddMember) -> Identity | None:
        """Who the new member is; None if it was listed already, by a call whose answer was lost."""
        try:
            with told_by_etcd():
                added = await self._leader().member_add([step.peer_url], learner=step.learner)
        except NotDoneError as refusal:
            if isinstance(refusal.__cause__, RefusedError) and refusal.__cause__.reason in ADDED:
                return None
            raise
        return Identity(cluster_id=added.header.cluster_id, member_id=added.member.id)

    async def change(self, step: Change) -> None:
        match step:
            case AddMember():
                await self.add(step)
            case PromoteLearner():
                with told_by_etcd(), _already({Reason.NOT_A_LEARNER}):
                    await self._leader().member_promote(step.id)
            case RemoveMember():
                with told_by_etcd(), _already({Reason.MEMBER_NOT_FOUND}):
                    await self._leader(but=step.id).member_remove(step.id)
            case MoveLeader():
                with told_by_etcd():
                    await self._leader().move_leader(step.to_id)
            case SaveRaftSnapshots():
                await self._save_raft_snapshots()

    async def _save_raft_snapshots(self) -> None:
        """Deletes what does not exist, as often as it takes: raft counts these entries, and no key changes.

        An answer that is lost does no harm here, nor does a repetition.
        """
        leader = self._leader(anyone=True)
        key = b"\0etcd-operator/" + secrets.token_hex(16).encode()
        numbers = iter(range(ENTRIES))

        async def work() -> None:
            for _ in numbers:
                await leader.delete(key, deadline=ENTRY_SECONDS)

        tasks = [asyncio.create_task(work()) for _ in range(IN_FLIGHT)]
        try:
            with told_by_etcd():
                async with asyncio.timeout(LONGEST):
                    await asyncio.gather(*tasks)
        except TimeoutError:
            text = f"{ENTRIES} entries could not be written within {LONGEST:g} s"
            raise NotDoneError("TooSlow", text) from None
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def _leader(self, *, but: int = 0, anyone: bool = False) -> Member:
        """The leader; if it is the one that is not wanted, any other voter that has just answered."""
        leading = health.leader_id(self.view)
        able = {
            answer.identity.member_id: name
            for name, answer in self.view.answers.items()
            if isinstance(answer, Answer) and answer.linearizable and answer.identity.member_id != but
        }
        name = able.get(leading) or (next(iter(able.values()), None) if leading == but else None)
        answer = self.view.answers.get(name or "")
        if name is None or not isinstance(answer, Answer):
            raise NotDoneError("NoLeader", "no member that can be asked for it answers as the leader")
        return self.dial(self.view.bodies[name], identity=answer.identity, anyone=anyone)


@contextmanager
def _already(reasons: Collection[Reason]) -> Iterator[None]:
    try:
        yield
    except RefusedError as refusal:
        if refusal.reason not in reasons:
            raise
