"""What the operator costs while nothing happens: memory, time of the processor, and calls, with ever more clusters.

All clusters have members that run. The first ten have three; those that make fifty of them have one, for the machine's
sake: what they add to the operator's memory is nearly the same, as it holds few fields of a pod. Everything is read
from what the process tells of itself, at rest, and once: what was taken for the work before counts, too.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass

from bench.comparison import Result
from bench.figure import Figure
from bench.operated import World, operated
from bench.operator_metrics import Scrape, etcd_calls
from box.toolchain.tools import tool

VERSION = tool("etcd-3.6").version
SIZE = 3
FEW, MANY = 10, 50
AT_ONCE = 3  # clusters that are being created, for the machine's sake
CALM, OBSERVED = 20.0, 60.0  # seconds: until nothing happens any more, and of watching that
METRICS = 2381


@dataclass(frozen=True)
class Idle:
    """Over some time without work."""

    megabytes: float
    cpu_percent: float
    kube_calls: float  # a second, the lease's included
    etcd_calls: float


async def measure(_rounds: int) -> list[Result]:
    async with operated() as world:
        await _clusters(world, 0, 1, size=SIZE)
        one = await _idle(world)
        await _clusters(world, 1, FEW, size=SIZE)
        few = await _idle(world)
        await _clusters(world, FEW, MANY, size=1)
        await asyncio.sleep(CALM)
        many = await world.scrape()
    return _report(one, few, many)


async def _clusters(world: World, first: int, end: int, *, size: int) -> None:
    left = iter(range(first, end))

    async def create() -> None:
        for number in left:
            name = _name(number)
            await world.create_cluster(name, size=size, version=VERSION)
            await world.settled(name, size=size, version=VERSION)

    async with asyncio.TaskGroup() as group:
        for _ in range(AT_ONCE):
            group.create_task(create())


def _name(number: int) -> str:
    return f"idle-{number:02}"


async def _idle(world: World) -> Idle:
    await asyncio.sleep(CALM)
    etcd_before = await _etcd_calls(world)
    before, began = await world.scrape(), time.monotonic()
    await asyncio.sleep(OBSERVED)
    after, took = await world.scrape(), time.monotonic() - began
    etcd_after = await _etcd_calls(world)
    return Idle(
        megabytes=after.megabytes,
        cpu_percent=100 * (after.cpu_seconds - before.cpu_seconds) / took,
        kube_calls=sum(after.calls_since(before, heartbeat=True).values()) / took,
        etcd_calls=(etcd_after - etcd_before) / took,
    )


async def _etcd_calls(world: World) -> float:
    """Of all members together."""
    members = [pod for pod in world.pods.store if pod.metadata.labels.get("app") == "etcd"]
    pages = [await world.metrics_page(pod, METRICS) for pod in members]
    return sum(map(etcd_calls, pages))


def _report(one: Idle, few: Idle, many: Scrape) -> list[Result]:
    def figure(name: str, unit: str, value: float, bound: float | None = None) -> Figure:
        return Figure(name=name, unit=unit, values=(value,), bound=bound)

    further = (many.megabytes - one.megabytes) / (MANY - 1)
    return [
        figure("operator's resident memory with 1 cluster,", "MB", one.megabytes, 90),
        figure(f"operator's resident memory with {FEW} clusters,", "MB", few.megabytes),
        figure(f"operator's resident memory with {MANY} clusters,", "MB", many.megabytes),
        figure(f"operator's resident memory per further cluster, of {MANY},", "MB", further, 0.3),
        figure("operator's idle CPU with 1 cluster,", "% of a core", one.cpu_percent),
        figure(f"operator's idle CPU with {FEW} clusters of {SIZE},", "% of a core", few.cpu_percent, 1.5),
        figure("calls of the Kubernetes API with 1 idle cluster,", "/s", one.kube_calls),
        figure(f"calls of the Kubernetes API with {FEW} idle clusters,", "/s", few.kube_calls),
        figure("calls of etcd with 1 idle cluster,", "/s", one.etcd_calls),
        figure(f"calls of etcd with {FEW} idle clusters of {SIZE},", "/s", few.etcd_calls),
    ]
