"""Thousands of objects: all of them listed, every change of them heard, and little memory needed."""

from __future__ import annotations

import asyncio
import gc
import time
import tracemalloc
from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path
from typing import Any

import msgspec
import pytest

from etcd_operator.kube.budget import Budget
from etcd_operator.kube.client import Client
from etcd_operator.kube.connection import Connection
from etcd_operator.kube.projections import Pod
from etcd_operator.kube.requests import PatchKind, Selection
from etcd_operator.kube.resources import CONFIG_MAPS, PODS
from etcd_operator.kube.store import Store
from tests.box.kube.notes import note
from tests.box.kube.watching import names, shown, watching

OBJECTS = 5000
CHANGES = 1000
AT_ONCE = 32
MEGABYTE = 1 << 20


async def for_each(count: int, call: Callable[[int], Coroutine[Any, Any, object]]) -> None:
    """Calls for all numbers, so many at a time."""
    numbers = iter(range(count))

    async def worker() -> None:
        for number in numbers:
            await call(number)

    async with asyncio.TaskGroup() as group:
        for _ in range(AT_ONCE):
            group.create_task(worker())


def resident() -> int:
    """Bytes of memory that this process has."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


@pytest.fixture
async def writer(connection: Connection) -> AsyncIterator[Client]:
    """Writes as fast as it can."""
    async with Client(connection, user_agent="etcd-operator/test", budget=Budget(per_second=1e6, burst=10**6)) as made:
        yield made


async def test_five_thousand_objects_are_listed_and_every_change_is_heard(
    client: Client, writer: Client, namespace: str
) -> None:
    await for_each(OBJECTS, lambda number: writer.create(CONFIG_MAPS, note(f"note-{number}", namespace, word="a")))
    gc.collect()
    before, begun = resident(), time.monotonic()
    async with watching(client, Selection(CONFIG_MAPS, namespace=namespace)) as (informer, told):
        print(f"listed in {time.monotonic() - begun:.2f} s, {(resident() - before) / MEGABYTE:.1f} MB")
        assert len(names(informer)) == OBJECTS
        assert resident() - before < 60 * MEGABYTE

        change = {"data": {"word": "b"}}
        await for_each(
            CHANGES,
            lambda number: writer.patch(
                CONFIG_MAPS, f"note-{number}", change, kind=PatchKind.MERGE, namespace=namespace
            ),
        )
        await shown(informer, lambda: sum(found.data.get("word") == "b" for found in informer.store) == CHANGES)
        for sign, count in (("+", OBJECTS), ("~", CHANGES)):
            heard = [entry for entry in told.signs if entry.startswith(f"{sign}note-")]
            assert len(heard) == len(set(heard)) == count
        print(f"{(resident() - before) / MEGABYTE:.1f} MB after all changes")


async def test_three_thousand_pods_fit_into_12_megabytes(client: Client) -> None:
    """Measured with a real, running pod as the API server sends it, under 3000 names."""
    listing = await client.list(PODS, namespace="kube-system", selector="k8s-app=kube-dns")
    original = next(pod for pod in listing.items if pod["status"]["phase"] == "Running")
    decoder = msgspec.json.Decoder(Pod)
    store: Store[Pod] = Store()
    tracemalloc.start()
    try:
        for number in range(3000):
            metadata = {**original["metadata"], "name": f"demo-{number:010}", "uid": f"{number:036}"}
            store.put(decoder.decode(msgspec.json.encode({**original, "metadata": metadata})))
        del metadata
        size, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    pod = next(iter(store))
    assert pod.status.pod_ip
    assert pod.status.container_statuses[0].ready
    assert len(msgspec.json.encode(original)) > 5000, "a pod of this size is no measure"
    print(f"{size / MEGABYTE:.1f} MB for 3000 pods of {len(msgspec.json.encode(original))} bytes")
    assert size < 12 * MEGABYTE, f"{size / MEGABYTE:.1f} MB"
