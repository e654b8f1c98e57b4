"""Who leads: processes with leases on a real API server that are killed, stopped, resumed and asked to end."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Protocol

import pytest

from box.layout import REPOSITORY
from etcd_operator.kube.client import Client
from etcd_operator.kube.lease import Election, LeaseLostError, Times
from etcd_operator.kube.resources import LEASES
from tests.box.driving import Box, eventually
from tests.box.kube.candidate import LOST, RETRY

LIMIT = 60.0
SHORT = 4  # seconds of a lease that a test waits for
LONG = 30  # and of one that it does not


class Start(Protocol):
    async def __call__(self, identity: str, *, duration: int = SHORT) -> Process: ...


class Process:
    """A candidate, and what it has said."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self.lines: list[str] = []
        self._reading = asyncio.create_task(self._read())

    async def _read(self) -> None:
        assert self._process.stdout is not None
        async for line in self._process.stdout:
            self.lines.append(line.decode().strip())

    def times(self, deed: str) -> list[float]:
        return [float(line.split()[1]) for line in self.lines if line.startswith(f"{deed} ")]

    def signal(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    async def leads(self) -> None:
        async with asyncio.timeout(LIMIT):
            while not self.times("acts"):
                assert self._process.returncode is None, self.lines
                await asyncio.sleep(0.02)

    async def ended(self) -> int:
        async with asyncio.timeout(LIMIT):
            code = await self._process.wait()
            await self._reading
        return code

    async def kill(self) -> None:
        if self._process.returncode is None:
            self._process.kill()
        await self.ended()


@pytest.fixture
async def start(box: Box, namespace: str) -> AsyncIterator[Start]:
    processes: list[Process] = []

    async def begin(identity: str, *, duration: int = SHORT) -> Process:
        arguments = ("-m", "tests.box.kube.candidate", str(box.layout.kubeconfig), namespace, identity, str(duration))
        made = await asyncio.create_subprocess_exec(
            sys.executable,
            *arguments,
            cwd=REPOSITORY,
            env={**os.environ, "PYTHONPATH": f"{REPOSITORY}:{REPOSITORY / 'src'}"},
            stdout=asyncio.subprocess.PIPE,
        )
        processes.append(Process(made))
        return processes[-1]

    yield begin
    for process in processes:
        await process.kill()


async def lease(client: Client, namespace: str) -> dict[str, Any]:
    found = await client.get(LEASES, "lead", namespace=namespace)
    spec: dict[str, Any] = found["spec"]
    return spec


async def test_a_killed_holder_is_followed_after_its_time(client: Client, namespace: str, start: Start) -> None:
    first = await start("first")
    await first.leads()
    second = await start("second")
    await asyncio.sleep(1)
    assert (await lease(client, namespace))["holderIdentity"] == "first"
    first.signal(signal.SIGKILL)
    await first.ended()

    await second.leads()

    waited = second.times("acts")[0] - first.times("acts")[-1]
    assert waited > SHORT - 2 * RETRY, "it did not wait for the lease to run out"
    assert (await lease(client, namespace))["leaseTransitions"] == 1


async def test_a_holder_that_ends_in_order_is_followed_at_once(client: Client, namespace: str, start: Start) -> None:
    first = await start("first", duration=LONG)
    await first.leads()
    second = await start("second", duration=LONG)
    await asyncio.sleep(2)
    first.signal(signal.SIGTERM)
    assert await first.ended() == 0

    await second.leads()

    waited = second.times("acts")[0] - first.times("acts")[-1]
    assert 0 < waited < LONG - 5, "it waited for a lease that was given back"


async def test_a_holder_that_was_stopped_never_acts_again(client: Client, namespace: str, start: Start) -> None:
    first = await start("first")
    await first.leads()
    second = await start("second")
    await asyncio.sleep(1)
    first.signal(signal.SIGSTOP)
    await second.leads()
    await asyncio.sleep(1)
    first.signal(signal.SIGCONT)

    assert await first.ended() == LOST

    assert max(first.times("acts")) < min(second.times("acts")), "two acted at once"
    assert "the lease" in first.lines[-1]
    acted = len(second.times("acts"))
    await asyncio.sleep(1)
    assert len(second.times("acts")) > acted, "the new holder goes on"
    assert (await lease(client, namespace))["holderIdentity"] == "second"


@asynccontextmanager
async def _paused(box: Box) -> AsyncIterator[None]:
    await asyncio.to_thread(box, "pause", "apiserver")
    try:
        yield
    finally:
        await asyncio.to_thread(box, "resume", "apiserver")
        await asyncio.to_thread(eventually, box.api.ready, within=60)


async def test_a_holder_whose_api_server_is_frozen_ends_within_the_duration(
    box: Box, client: Client, namespace: str
) -> None:
    times = Times(duration=4, renewal=2.0, retry=0.5)
    election = Election(client, namespace=namespace, name="lead", identity="alone", times=times)
    ours_at_the_end: list[bool] = []

    async def work() -> None:
        try:
            await asyncio.sleep(LIMIT)
        finally:
            ours_at_the_end.append(election.still_ours())

    leading = asyncio.create_task(election.lead(work))
    async with asyncio.timeout(LIMIT):
        while not election.still_ours():  # noqa: ASYNC110 - there is no event for it
            await asyncio.sleep(0.01)
        async with _paused(box):
            with pytest.raises(LeaseLostError, match=r"could not be renewed within 2\.0 s"):
                await leading
    assert ours_at_the_end == [True], "the work must be over before anybody else can begin"
    assert not election.still_ours()


async def test_a_short_absence_of_the_api_server_costs_no_lease(box: Box, client: Client, namespace: str) -> None:
    times = Times(duration=15, renewal=14.0, retry=0.5)
    election = Election(client, namespace=namespace, name="lead", identity="alone", times=times)

    async def work() -> str:
        async with _paused(box):
            await asyncio.sleep(2)
        return "done"

    async with asyncio.timeout(LIMIT):
        assert await election.lead(work) == "done"
    assert (await lease(client, namespace))["holderIdentity"] == ""
    assert (await lease(client, namespace))["leaseTransitions"] == 0
