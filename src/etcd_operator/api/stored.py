"""An object as the API server has it, before anything is expected of its spec or status.

A list of a thousand objects must not fail because one of them is odd: lists and watches are decoded into something of
this shape, and `reading.decode` then takes each object by itself. Whoever watches has a metadata type of its own, so
the shape is a protocol; `Stored` is the plain form of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import msgspec


class Metadata(Protocol):
    """What is asked of an object's metadata here and above."""

    @property
    def name(self) -> str: ...
    @property
    def namespace(self) -> str: ...
    @property
    def uid(self) -> str: ...
    @property
    def generation(self) -> int: ...
    @property
    def labels(self) -> Mapping[str, str]: ...
    @property
    def annotations(self) -> Mapping[str, str]: ...
    @property
    def finalizers(self) -> tuple[str, ...]: ...
    @property
    def deletion_timestamp(self) -> str | None: ...


class Source(Protocol):
    """Any of the three kinds, undecoded."""

    @property
    def metadata(self) -> Metadata: ...
    @property
    def spec(self) -> object: ...
    @property
    def status(self) -> object: ...


class ObjectMeta(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The metadata of a plain object."""

    name: str
    namespace: str = ""
    uid: str = ""
    generation: int = 0
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    finalizers: tuple[str, ...] = ()
    deletion_timestamp: str | None = None


class Stored(msgspec.Struct, frozen=True, kw_only=True):
    """A plain object."""

    metadata: ObjectMeta
    spec: Any = None
    status: Any = None


class Part(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """A part of a spec or status. What has its default is not written, so a field that is cleared vanishes."""
