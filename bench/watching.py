"""Memory of a list-and-watch: our cache of decoded structs against the same objects as the dicts that JSON gives.

Each side is a process of its own (`bench.holding`), because memory once taken is seldom given back.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from bench.boxes import NAMESPACE, a_box
from bench.comparison import Better, Comparison, Result, in_turns
from etcd_operator.kube.budget import Budget
from etcd_operator.kube.client import Client
from etcd_operator.kube.kubeconfig import from_kubeconfig
from etcd_operator.kube.resources import ETCD_CLUSTERS
from etcd_operator.kube.surroundings import user_agent

OBJECTS = 5000
IN_FLIGHT = 16


async def measure(rounds: int) -> list[Result]:
    with a_box() as box:
        await _create_objects(box.layout.kubeconfig)

        async def added(side: str) -> float:
            argv = (sys.executable, "-m", "bench.holding", side, str(box.layout.kubeconfig), str(OBJECTS))
            child = await asyncio.create_subprocess_exec(*argv, stdout=asyncio.subprocess.PIPE)
            output, _ = await child.communicate()
            if child.returncode:
                raise RuntimeError(f"bench.holding {side} ended with {child.returncode}")
            return float(output)

        figures = await in_turns(ours=lambda: added("structs"), baseline=lambda: added("dicts"), rounds=rounds)
    name = f"memory for {OBJECTS} EtcdClusters, listed and watched"
    return [Comparison(name, "MB", "the same as dicts", *figures, better=Better.LOWER, bound=0.5)]


async def _create_objects(kubeconfig: Path) -> None:
    left = iter(range(OBJECTS))
    budget = Budget(per_second=1e6, burst=OBJECTS)
    connection = from_kubeconfig(files=(kubeconfig,))
    async with Client(connection, user_agent=user_agent("bench"), budget=budget) as client:

        async def worker() -> None:
            for number in left:
                spec = {"size": 3, "version": "3.6.4", "pod": {"labels": {"team": f"t{number % 40}"}}}
                manifest = {"metadata": {"name": f"cluster-{number:04}", "namespace": NAMESPACE}, "spec": spec}
                await client.create(ETCD_CLUSTERS, manifest)

        async with asyncio.TaskGroup() as group:
            for _ in range(IN_FLIGHT):
                group.create_task(worker())
