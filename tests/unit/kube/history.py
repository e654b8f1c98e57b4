"""What an API server remembers of one kind of objects, without the server: versions, deletions, what it has forgotten.

It stands behind the same protocol as the client. Whatever an informer does with it is also done with a real API server,
in tests/box/kube; here every order of events can be had, in no time.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any

import msgspec

from etcd_operator.kube.answers import Page
from etcd_operator.kube.errors import GoneError, KubeError, UnreachableError
from etcd_operator.kube.resources import Resource
from etcd_operator.kube.watch import Change, ChangeKind


@dataclass(frozen=True)
class Entry:
    revision: int
    kind: ChangeKind
    object: dict[str, Any]


def gone() -> GoneError:
    return GoneError("too old resource version", status=410, reason="Expired")


class History:
    """One revision counter for all objects; time passes between two pages, and in nothing else."""

    def __init__(self, *, between_pages: float = 0.0) -> None:
        self.revision = 1
        self.objects: dict[str, dict[str, Any]] = {}
        self.lists: list[float] = []
        self.watches: list[tuple[float, int, int]] = []  # when, from which version, for how long
        self.outage: KubeError | None = None
        self.frozen = False
        self.forgetful = False  # each version is too old for a watch
        self._between_pages = between_pages
        self._compacted = 0
        self._entries: list[Entry] = []
        self._streams: dict[asyncio.Event, KubeError | None] = {}
        self._ended: set[asyncio.Event] = set()
        self._made = 0

    # What users do.

    def create(self, name: str, *, size: object = 1) -> None:
        if name not in self.objects:
            self._made += 1
            metadata = {"name": name, "namespace": "ns", "uid": f"uid-{self._made}"}
            self._write(ChangeKind.ADDED, {"metadata": metadata, "size": size})

    def change(self, name: str, *, size: object = 2) -> None:
        if name in self.objects:
            self._write(ChangeKind.MODIFIED, {**self.objects[name], "size": size})

    def delete(self, name: str) -> None:
        if name in self.objects:
            self._write(ChangeKind.DELETED, self.objects[name])

    # What befalls the server.

    def compact(self) -> None:
        self._compacted = self.revision

    def bookmark(self) -> None:
        self._entries.append(Entry(self.revision, ChangeKind.BOOKMARK, self._stamped({"metadata": {}})))
        self._wake()

    def cut(self, error: KubeError | None = None) -> None:
        """All watches fail now."""
        for stream in self._streams:
            self._streams[stream] = error or UnreachableError("the connection broke")
        self._wake()

    def end(self) -> None:
        """All watches end now, as they do after their time."""
        self._ended |= set(self._streams)
        self._wake()

    def restore(self, backup: History) -> None:
        """Everything is as it once was, the versions too."""
        self.objects, self.revision = backup.objects, backup.revision
        self._entries, self._compacted = backup._entries, backup._compacted

    def thaw(self) -> None:
        self.frozen = False
        self._wake()

    # What an informer asks.

    async def pages(
        self, resource: Resource, /, *, page: int, deadline: float, **selection: object
    ) -> AsyncGenerator[Page[msgspec.Raw], None]:
        self.lists.append(_now())
        await self._answer(deadline)
        at, objects = self.revision, list(self.objects.values())
        for start in range(0, max(1, len(objects)), page):
            if start:
                await asyncio.sleep(self._between_pages)
                await self._answer(deadline)
                if at < self._compacted:
                    raise gone()
            yield Page([_raw(obj) for obj in objects[start : start + page]], str(at))

    async def watch(
        self,
        resource: Resource,
        /,
        *,
        resource_version: str,
        timeout_seconds: int,
        silence: float,
        **selection: object,
    ) -> AsyncGenerator[Change[msgspec.Raw], None]:
        self.watches.append((_now(), int(resource_version), timeout_seconds))
        await self._answer(10.0)
        news = asyncio.Event()
        self._streams[news] = None
        end = _now() + timeout_seconds
        try:
            async for entry in self._entries_after(int(resource_version), news, silence=silence, end=end):
                yield Change(entry.kind, _raw(entry.object))
        finally:
            del self._streams[news]
            self._ended.discard(news)

    async def _entries_after(
        self, revision: int, news: asyncio.Event, *, silence: float, end: float
    ) -> AsyncGenerator[Entry, None]:
        if self.forgetful or revision < self._compacted:
            raise gone()
        position = next((i for i, entry in enumerate(self._entries) if entry.revision > revision), len(self._entries))
        while True:
            if (error := self._streams[news]) is not None:
                raise error
            if news in self._ended:
                return
            if position < len(self._entries) and not self.frozen:
                position += 1
                yield self._entries[position - 1]
                continue
            news.clear()
            try:
                async with asyncio.timeout(min(silence, max(0.0, end - _now()))):
                    await news.wait()
            except TimeoutError:
                if self.frozen or _now() < end:
                    raise UnreachableError(f"nothing came for {silence} s") from None
                return

    async def _answer(self, deadline: float) -> None:
        await asyncio.sleep(0)
        if self.frozen:
            await asyncio.sleep(deadline)
            raise UnreachableError(f"no answer within {deadline} s")
        if self.outage is not None:
            raise self.outage

    def _write(self, kind: ChangeKind, obj: dict[str, Any]) -> None:
        self.revision += 1
        stamped = self._stamped(obj)
        name = obj["metadata"]["name"]
        if kind is ChangeKind.DELETED:
            del self.objects[name]
        else:
            self.objects[name] = stamped
        self._entries.append(Entry(self.revision, kind, stamped))
        self._wake()

    def _stamped(self, obj: dict[str, Any]) -> dict[str, Any]:
        return {**obj, "metadata": {**obj["metadata"], "resourceVersion": str(self.revision)}}

    def _wake(self) -> None:
        for stream in self._streams:
            stream.set()


def _raw(obj: dict[str, Any]) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode(obj))


def _now() -> float:
    return asyncio.get_running_loop().time()
