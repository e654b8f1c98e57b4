"""An informer at work on a history, and one who believes every difference it tells of."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec

from etcd_operator.kube.backoff import Backoff
from etcd_operator.kube.informer import Informer, Patience
from etcd_operator.kube.objects import Metadata
from etcd_operator.kube.requests import Selection
from etcd_operator.kube.resources import CONFIG_MAPS
from etcd_operator.kube.store import Difference, Key
from tests.unit.kube.history import History
from tests.unit.kube.virtual_time import longest

PATIENCE = Patience(page=2, shortest_watch=300, longest_watch=600, silence=75, backoff=Backoff(first=1.0, cap=8.0))


class Thing(msgspec.Struct, frozen=True):
    metadata: Metadata
    size: int


class Believer:
    """Knows only what differences say, and that they must fit together."""

    def __init__(self) -> None:
        self.things: dict[Key, Thing] = {}
        self.heard: list[str] = []

    def __call__(self, difference: Difference[Thing]) -> None:
        old, new = difference
        assert self.things.get(difference.key) == old, "what changed is not what was there"
        assert old is not None or new is not None
        if old is not None and new is not None:
            assert old.metadata.uid == new.metadata.uid, "one object became another"
        if new is None:
            del self.things[difference.key]
        else:
            self.things[difference.key] = new
        sign = "+" if old is None else "-" if new is None else "~"
        self.heard.append(sign + difference.key.name)


@asynccontextmanager
async def following(history: History, patience: Patience = PATIENCE) -> AsyncIterator[tuple[Informer[Thing], Believer]]:
    """After the first list, and with a watch that has been open for a while."""
    informer = Informer(history, Selection(CONFIG_MAPS), into=Thing, patience=patience, uniform=longest)
    believer = Believer()
    informer.subscribe(believer)
    running = asyncio.create_task(informer.run())
    try:
        await informer.synced.wait()
        await asyncio.sleep(5)
        yield informer, believer
    finally:
        running.cancel()
        await asyncio.wait({running})
    assert running.cancelled()
