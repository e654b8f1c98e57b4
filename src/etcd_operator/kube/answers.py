"""What the API server answers, decoded straight into the type that the caller asks for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic

import msgspec

from etcd_operator.kube.errors import UnreadableError
from etcd_operator.kube.objects import PartialObject, T


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """A part of a list. All pages of one list show the same moment, that of their version."""

    items: list[T]
    resource_version: str
    token: str = ""  # of the next page; empty with the last


@dataclass(frozen=True, slots=True)
class Listing(Generic[T]):
    """Everything that there was at one moment; a watch from its version on misses nothing."""

    items: list[T]
    resource_version: str


class _ListMetadata(msgspec.Struct, frozen=True, rename={"token": "continue", "resource_version": "resourceVersion"}):
    resource_version: str = ""
    token: str = ""


class _List(msgspec.Struct, frozen=True):
    metadata: _ListMetadata = _ListMetadata()
    items: list[msgspec.Raw] | None = None


def decoded(body: bytes | msgspec.Raw, *, into: type[T], request: str) -> T:
    if into is msgspec.Raw:
        return body if isinstance(body, msgspec.Raw) else msgspec.Raw(body)  # type: ignore[return-value]
    try:
        return msgspec.json.decode(body, type=into)
    except (msgspec.DecodeError, UnicodeDecodeError) as problem:
        raise UnreadableError(f"{request}: {_name(body)} is not a {into.__name__}: {problem}") from problem


def page(body: bytes, *, into: type[T], request: str) -> Page[T]:
    """Items are decoded one by one, so that the message can say which of them is not as it should be."""
    found = decoded(body, into=_List, request=request)
    items = [decoded(item, into=into, request=request) for item in found.items or ()]
    return Page(items, found.metadata.resource_version, found.metadata.token)


def _name(body: bytes | msgspec.Raw) -> str:
    try:
        metadata = msgspec.json.decode(body, type=PartialObject).metadata
    except (msgspec.DecodeError, UnicodeDecodeError):
        return "the answer"
    return f"{metadata.namespace}/{metadata.name}" if metadata.namespace else metadata.name or "the answer"
