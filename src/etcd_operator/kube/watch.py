"""The stream of changes that a watch is: one line of JSON per event, in chunks that begin and end anywhere.

aiohttp's own `readline` gives up on a line longer than its buffer, and one object may have 1.5 MB and more. So lines
are put together here, each joined only once however many chunks it comes in.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Generic, Literal

import msgspec

from etcd_operator.kube.answers import decoded
from etcd_operator.kube.errors import Status, UnreadableError
from etcd_operator.kube.objects import T


class ChangeKind(enum.StrEnum):
    ADDED = "ADDED"
    MODIFIED = "MODIFIED"
    DELETED = "DELETED"
    BOOKMARK = "BOOKMARK"  # only its resourceVersion means anything


@dataclass(frozen=True, slots=True)
class Change(Generic[T]):
    """What happened to one object, and how it is since (or was at last, if it is deleted)."""

    kind: ChangeKind
    object: T


class Lines:
    """Puts lines together from chunks."""

    def __init__(self) -> None:
        self._begun: list[bytes] = []

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """The lines that this chunk ends, without their ends."""
        first, *rest = chunk.split(b"\n")
        self._begun.append(first)
        for piece in rest:
            line = b"".join(self._begun)
            self._begun = [piece]
            if line:
                yield line

    @property
    def rest(self) -> bytes:
        """What has come since the last end of a line."""
        return b"".join(self._begun)


class _Event(msgspec.Struct, frozen=True):
    type: Literal["ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"]
    object: msgspec.Raw


class EventDecoder(Generic[T]):
    """Makes changes of lines."""

    def __init__(self, into: type[T], *, request: str = "") -> None:
        self._into = into
        self._request = request

    def decode(self, line: bytes) -> Change[T] | None:
        """The change; None for a bookmark that is not of the shape asked for, as bookmarks have no spec."""
        event = decoded(line, into=_Event, request=self._request)
        if event.type == "ERROR":
            raise decoded(event.object, into=Status, request=self._request).error(request=self._request)
        kind = ChangeKind(event.type)
        try:
            return Change(kind, decoded(event.object, into=self._into, request=self._request))
        except UnreadableError:
            if kind is ChangeKind.BOOKMARK:
                return None
            raise
