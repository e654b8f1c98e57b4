"""An informer at work on the box, and what it has told so far."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import msgspec

from etcd_operator.kube.backoff import Backoff
from etcd_operator.kube.informer import Informer, Patience, Source
from etcd_operator.kube.objects import PartialObject
from etcd_operator.kube.requests import Selection
from etcd_operator.kube.store import Difference, Key

HASTY = Patience(silence=75.0, backoff=Backoff(first=0.1, cap=1.0))
LIMIT = 60.0


class Note(PartialObject, frozen=True):
    data: dict[str, str] = msgspec.field(default_factory=dict)


class Told:
    """Differences as signs and names: +new, ~changed, -gone; they must fit together."""

    def __init__(self) -> None:
        self.signs: list[str] = []
        self._known: dict[Key, str] = {}

    def __call__(self, difference: Difference[PartialObject]) -> None:
        old, new = difference
        known = self._known.pop(difference.key, None)
        assert known == (old.metadata.uid if old else None), f"{difference.key} was not as the informer says"
        if new is not None:
            self._known[difference.key] = new.metadata.uid
        sign = "+" if old is None else "-" if new is None else "~"
        self.signs.append(sign + difference.key.name)


@asynccontextmanager
async def watching(
    client: Source, selection: Selection, *, patience: Patience = HASTY
) -> AsyncIterator[tuple[Informer[Note], Told]]:
    informer = Informer(client, selection, into=Note, patience=patience)
    told = Told()
    informer.subscribe(told)
    running = asyncio.create_task(informer.run())
    try:
        async with asyncio.timeout(LIMIT):
            await informer.synced.wait()
        yield informer, told
    finally:
        running.cancel()
        await asyncio.wait({running})
    assert running.cancelled(), "an informer never ends by itself"


async def shown(informer: Informer[Note], claim: Callable[[], bool]) -> None:
    """Waits until a claim about the store holds."""
    async with asyncio.timeout(LIMIT):
        await informer.until(claim)


def names(informer: Informer[Note]) -> set[str]:
    return {note.metadata.name for note in informer.store} - {"kube-root-ca.crt"}
