"""What a client notices of the operator's work: a rolling upgrade, and the loss of the leader, while it writes.

For writes there is no other baseline than none lost. Gaps are told beside the longest one of the quiet seconds before,
which is what the machine itself is worth.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import msgspec

from bench.boxes import NAMESPACE
from bench.comparison import Better, Result
from bench.figure import Figure, largest, share_below
from bench.gaps import longest, longest_by_restart
from bench.operated import REST, World, members_of, operated
from box.layout import REPOSITORY
from box.toolchain.tools import tool
from etcd_operator.kube.projections import Pod
from etcd_operator.kube.resources import ETCD_CLUSTERS
from etcd_operator.kube.store import Difference

OLD, NEW = (tool(f"etcd-{series}").version for series in ("3.5", "3.6"))
CLUSTER = "written"
SIZE = 3
QUIET = 5.0  # seconds of writing before and after what is measured
LONGEST_GAP = 1.0
OFTEN = 95.0  # percent: 19 of 20


class Account(msgspec.Struct, frozen=True):
    """What `bench.writing` says in the end."""

    acknowledged: tuple[float, ...]
    failed: int
    failures: tuple[str, ...]
    failed_over: int
    lost: int


@dataclass
class Writer:
    process: asyncio.subprocess.Process

    async def end(self) -> Account:
        output, _ = await asyncio.wait_for(self.process.communicate(), timeout=120)
        if self.process.returncode:
            raise RuntimeError(f"bench.writing ended with {self.process.returncode}")
        return msgspec.json.decode(output, type=Account)


@asynccontextmanager
async def writing(world: World) -> AsyncIterator[Writer]:
    addresses = [f"{pod.status.pod_ip}:2379" for pod in world.found(members_of(CLUSTER))]
    box = (sys.executable, str(REPOSITORY / "box/box"), "--name", world.box.layout.name, "run", "--")
    argv = (*box, sys.executable, "-m", "bench.writing", *addresses)
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*argv, stdin=pipe, stdout=pipe)
    try:
        await asyncio.sleep(QUIET)
        yield Writer(process)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


@dataclass
class Restarts:
    """When the etcd of a member was started anew."""

    moments: list[float] = field(default_factory=list)

    def note(self, difference: Difference[Pod]) -> None:
        old, new = difference
        if old is not None and new is not None and _starts(new) > _starts(old):
            self.moments.append(time.monotonic())


def _starts(pod: Pod) -> int:
    return sum(status.restart_count for status in pod.status.container_statuses)


async def measure(rounds: int) -> list[Result]:
    notes: defaultdict[str, list[float]] = defaultdict(list)
    async with operated() as world:
        for _ in range(rounds):
            await _created(world, OLD)
            await _upgrade(world, notes)
            await asyncio.sleep(REST)
            await _lose_leader(world, notes)
            await world.gone(ETCD_CLUSTERS, CLUSTER, members_of(CLUSTER))
    return _report(notes)


async def _created(world: World, version: str) -> None:
    await world.create_cluster(CLUSTER, size=SIZE, version=version)
    await world.settled(CLUSTER, size=SIZE, version=version)
    await asyncio.sleep(REST)


async def _upgrade(world: World, notes: defaultdict[str, list[float]]) -> None:
    restarts = Restarts()
    async with writing(world) as writer:
        began = time.monotonic()
        stop = world.pods.subscribe(restarts.note)
        await world.change_cluster(CLUSTER, version=NEW)
        await world.settled(CLUSTER, size=SIZE, version=NEW)
        stop()
        ended = time.monotonic()
        await asyncio.sleep(QUIET)
        account = await writer.end()
    _tell("upgrade", account)
    notes["upgrade"].append(ended - began)
    notes["restarts"].append(len(restarts.moments))
    notes["quiet"].append(longest(account.acknowledged, since=began - QUIET / 2, until=began))
    notes["gaps"] += longest_by_restart(account.acknowledged, restarts.moments, since=began, until=ended)
    notes["lost"].append(account.lost)
    notes["failed"].append(account.failed)


async def _lose_leader(world: World, notes: defaultdict[str, list[float]]) -> None:
    leader = (await world.status(CLUSTER))["leader"]
    others = [pod.metadata.name for pod in world.found(members_of(CLUSTER)) if pod.metadata.name != leader]
    async with writing(world) as writer:
        before = await _term(world, others[0])
        began = time.monotonic()
        await world.delete_pod(leader)
        await world.until(lambda: leader not in {pod.metadata.name for pod in world.found(members_of(CLUSTER))})
        await world.settled(CLUSTER, size=SIZE, version=NEW)
        ended = time.monotonic()
        after = await _term(world, others[0])
        account = await writer.end()
    _tell("leader's pod deleted", account)
    notes["elections"].append(after - before)
    notes["gap without leader"].append(longest(account.acknowledged, since=began, until=ended))
    notes["failed without leader"].append(account.failed)
    notes["lost without leader"].append(account.lost)


async def _term(world: World, member: str) -> int:
    argv = ("etcdctl", "endpoint", "status", "--write-out=json")
    output = await asyncio.to_thread(world.box.exec, NAMESPACE, member, *argv)
    return int(json.loads(output)[0]["Status"]["raftTerm"])


def _tell(what: str, account: Account) -> None:
    """Why writes failed is for whoever has to mend it."""
    if account.failures:
        print(f"{what}: {account.failed} writes failed, such as: {'; '.join(account.failures)}", file=sys.stderr)


def _report(notes: defaultdict[str, list[float]]) -> list[Result]:
    path, loss = f"{OLD} to {NEW} under 100 writes/s", "leader's pod deleted under 100 writes/s"

    def none(key: str, name: str) -> Figure:
        return Figure(name=name, unit="", values=tuple(notes[key]), judged_by=largest, bound=0)

    def told(key: str, name: str, unit: str = "s") -> Figure:
        return Figure(name=name, unit=unit, values=tuple(notes[key]))

    gaps = Figure(
        name=f"{path}: longest write gap at a member's restart, in s",
        unit="",
        values=tuple(notes["gaps"]),
        judged_by=share_below(LONGEST_GAP),
        better=Better.HIGHER,
        bound=OFTEN,
    )
    elections = Figure(name=f"{loss}: elections", unit="", values=tuple(notes["elections"]), judged_by=largest, bound=1)
    return [
        none("lost", f"{path}: acknowledged writes lost"),
        gaps,
        none("failed", f"{path}: writes that failed after one fail-over"),
        told("restarts", f"{path}: restarts of members", unit=""),
        told("quiet", f"{path}: longest write gap of the quiet seconds before,"),
        told("upgrade", f"{path}: whole upgrade,"),
        elections,
        none("lost without leader", f"{loss}: acknowledged writes lost"),
        told("gap without leader", f"{loss}: longest write gap,"),
        told("failed without leader", f"{loss}: writes that failed after one fail-over", unit=""),
    ]
