"""The changes of a range of keys, in order, none left out: or an error that says from where to begin again.

A server tells nothing while nothing changes, so silence is no failure here; a server that has frozen or vanished is
noticed by the channel's own pings. A member that has lost its leader ends the watch.
"""

from __future__ import annotations

import enum
from types import TracebackType
from typing import Self

import grpc
import msgspec

from etcd_operator.etcd import methods
from etcd_operator.etcd.call import Caller
from etcd_operator.etcd.errors import CompactedError, NoAnswerError, Reason
from etcd_operator.etcd.pb import kv_pb2
from etcd_operator.etcd.pb import rpc_pb2 as pb
from etcd_operator.etcd.refusals import error_for
from etcd_operator.etcd.results import Header, KeyValue, header_of, key_value_of
from etcd_operator.etcd.stream import WITH_LEADER, Stream


class Change(enum.IntEnum):
    PUT = 0
    DELETE = 1


class Event(msgspec.Struct, frozen=True):
    change: Change
    item: KeyValue  # of a deletion: the key, and the revision that deleted it
    previous: KeyValue | None


class Events(msgspec.Struct, frozen=True):
    """Changes that became visible together; none at all is a sign of life: nothing changed up to this revision."""

    header: Header
    events: tuple[Event, ...]


class Watch:
    """`async with member.watch(…) as watch`, then `async for events in watch`."""

    def __init__(self, caller: Caller, request: pb.WatchCreateRequest, *, deadline: float) -> None:
        self._what = f"Watch on {caller.target}"
        create = pb.WatchRequest(create_request=request)
        self._stream = Stream(caller, methods.WATCH, create, accept=self._checked, metadata=WITH_LEADER)
        self._deadline = deadline
        self.header: Header | None = None  # of the beginning

    async def __aenter__(self) -> Self:
        try:
            created = self._checked(await self._stream.open(self._deadline))
        except BaseException:
            await self._stream.close()
            raise
        self.header = header_of(created.header)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stream.close()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Events:
        answer = self._checked(await self._stream.read(None))
        return Events(header_of(answer.header), tuple(event_of(event) for event in answer.events))

    def _checked(self, answer: pb.WatchResponse | None) -> pb.WatchResponse:
        """A watch has no end of its own: when the server ends it, that is an error, with whatever it says about it."""
        if answer is None:
            raise NoAnswerError(f"{self._what}: the server ended the stream", Reason.NO_ANSWER)
        if answer.compact_revision:
            raise CompactedError(
                f"{self._what}: the revisions before {answer.compact_revision} are compacted", answer.compact_revision
            )
        if answer.canceled:
            details = answer.cancel_reason or "the server cancelled it"
            raise error_for(grpc.StatusCode.CANCELLED, details, what=self._what, changes=False)
        return answer


def event_of(event: kv_pb2.Event) -> Event:
    previous = key_value_of(event.prev_kv) if event.HasField("prev_kv") else None
    return Event(Change(event.type), key_value_of(event.kv), previous)
