"""One side of the memory benchmark: connects, takes in all objects, and prints the resident memory that this added.

`python -m bench.holding structs|dicts KUBECONFIG COUNT`. Both sides list and then keep a watch open.
"""

from __future__ import annotations

import asyncio
import gc
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from etcd_operator.api.cluster import ClusterSpec, ClusterStatus
from etcd_operator.kube.client import Client
from etcd_operator.kube.informer import Informer
from etcd_operator.kube.kubeconfig import from_kubeconfig
from etcd_operator.kube.objects import PartialObject
from etcd_operator.kube.requests import Selection
from etcd_operator.kube.resources import ETCD_CLUSTERS
from etcd_operator.kube.surroundings import user_agent

WATCHED_SECONDS = 1.0  # long enough for the watch to be there when the memory is read


class Watched(PartialObject, frozen=True, kw_only=True):
    """An EtcdCluster as a cache holds it."""

    spec: ClusterSpec
    status: ClusterStatus = ClusterStatus()


def resident() -> float:
    """In MB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1e3 for line in lines if line.startswith("VmRSS:"))


@asynccontextmanager
async def structs(client: Client, count: int) -> AsyncGenerator[int, None]:
    informer = Informer(client, Selection(ETCD_CLUSTERS), into=Watched)
    running = asyncio.create_task(informer.run())
    async with asyncio.timeout(120):
        await informer.synced.wait()
        await informer.until(lambda: len(informer.store) >= count)
    yield len(informer.store)
    running.cancel()
    await asyncio.wait({running})


@asynccontextmanager
async def dicts(client: Client, _count: int) -> AsyncGenerator[int, None]:
    listing = await client.list(ETCD_CLUSTERS, deadline=120)
    held: dict[str, dict[str, Any]] = {each["metadata"]["name"]: each for each in listing.items}

    async def watch() -> None:
        version = listing.resource_version
        async for change in client.watch(ETCD_CLUSTERS, resource_version=version, timeout_seconds=300, silence=75):
            held[change.object["metadata"]["name"]] = change.object

    running = asyncio.create_task(watch())
    yield len(held)
    running.cancel()
    await asyncio.wait({running})


async def main(side: str, kubeconfig: Path, count: int) -> None:
    connection = from_kubeconfig(files=(kubeconfig,))
    async with Client(connection, user_agent=user_agent("bench")) as client:
        await client.list(ETCD_CLUSTERS, namespace="default")  # what a first request needs is there before the count
        gc.collect()
        before = resident()
        async with {"structs": structs, "dicts": dicts}[side](client, count) as held:
            if held != count:
                sys.exit(f"{held} objects came, {count} were expected")
            await asyncio.sleep(WATCHED_SECONDS)
            gc.collect()
            print(resident() - before)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])))
