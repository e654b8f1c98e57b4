"""Events that people read with `kubectl describe`, as values: what happened to which object, and how often.

Equal events make a series: one object in the API whose count grows, instead of one object each. The limits are the API
server's, which counts bytes; a longer text is shortened rather than refused.
"""

from __future__ import annotations

import enum
import secrets
from datetime import datetime

import msgspec

from etcd_operator.kube.objects import Manifest
from etcd_operator.kube.resources import Resource
from etcd_operator.kube.store import Named

NOTE_BYTES = 1024
WORD_BYTES = 128  # of reason, action, and who reports
_NAME_BYTES = 253
_ELLIPSIS = "…"
_MICROSECONDS = "%Y-%m-%dT%H:%M:%S.%fZ"


class EventType(enum.StrEnum):
    NORMAL = "Normal"
    WARNING = "Warning"


class Reference(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """The object that an event is about."""

    api_version: str
    kind: str
    name: str
    namespace: str = ""
    uid: str = ""


def reference(resource: Resource, obj: Named) -> Reference:
    metadata = obj.metadata
    return Reference(resource.api_version, resource.kind, metadata.name, namespace=metadata.namespace, uid=metadata.uid)


class Event(msgspec.Struct, frozen=True):
    """What happened, without when and how often."""

    regarding: Reference
    reason: str
    note: str
    type: EventType
    action: str


def event(regarding: Reference, *, reason: str, note: str, type: EventType, action: str) -> Event:  # noqa: A002
    """Within the server's limits; the action is the reason where there is no better word."""
    return Event(
        regarding=regarding,
        reason=shortened(reason, WORD_BYTES),
        note=shortened(note, NOTE_BYTES),
        type=type,
        action=shortened(action or reason, WORD_BYTES),
    )


class Reporter(msgspec.Struct, frozen=True):
    """Who tells: the program, as a qualified name, and which process of it."""

    controller: str
    instance: str


class Series:
    """An event and its repetitions."""

    def __init__(self, event: Event, *, now: float, at: datetime) -> None:
        self.event = event
        self.name = _object_name(event.regarding.name)
        self.count = 1
        self.posted = 0  # the count that the server knows
        self.first = self.last = at
        self.seen = now
        self.due = now
        self.tries = 0

    @property
    def namespace(self) -> str:
        """Events about what lives in no namespace are kept in `default`; the server insists."""
        return self.event.regarding.namespace or "default"

    def repeat(self, *, now: float, at: datetime) -> None:
        self.count += 1
        self.last, self.seen = at, now

    def begin_anew(self) -> None:
        """The server no longer has it; a name is never used twice."""
        self.name = _object_name(self.event.regarding.name)
        self.first, self.posted = self.last, 0

    def change(self) -> Manifest:
        """What a repetition changes: the server lets nothing else of an event be changed."""
        return {"series": {"count": self.count, "lastObservedTime": self.last.strftime(_MICROSECONDS)}}

    def manifest(self, reporter: Reporter) -> Manifest:
        event = self.event
        manifest: Manifest = {
            "metadata": {"name": self.name, "namespace": self.namespace},
            "eventTime": self.first.strftime(_MICROSECONDS),
            "reportingController": shortened(reporter.controller, WORD_BYTES),
            "reportingInstance": shortened(reporter.instance, WORD_BYTES),
            "action": event.action,
            "reason": event.reason,
            "regarding": msgspec.to_builtins(event.regarding),
            "note": event.note,
            "type": event.type.value,
        }
        return manifest | self.change() if self.count > 1 else manifest


def _object_name(regarding: str) -> str:
    suffix = "." + secrets.token_hex(8)
    return regarding[: _NAME_BYTES - len(suffix)].rstrip(".-") + suffix


def shortened(text: str, size: int) -> str:
    """The text in at most so many bytes, with a mark if something is missing, and no character cut in two."""
    encoded = text.encode()
    if len(encoded) <= size:
        return text
    return encoded[: size - len(_ELLIPSIS.encode())].decode(errors="ignore") + _ELLIPSIS
