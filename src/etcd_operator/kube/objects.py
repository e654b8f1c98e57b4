"""The few fields that every Kubernetes object has, and what calls return when nobody asks for more.

Objects are decoded straight into structs that name only the fields of interest: the rest of the JSON is skipped without
ever becoming Python objects, which is where the memory of a cache of thousands of pods would go. Decoding is lenient:
every field has a default, and fields we do not know are passed over. What comes from JSON holds no cycles, so structs
of which there are many need not be known to the garbage collector.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

Manifest: TypeAlias = dict[str, Any]

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    T = TypeVar("T", default=Manifest)
else:
    from typing import TypeVar

    T = TypeVar("T")  # defaults of type variables reach `typing` only with Python 3.13

DICT: Any = dict  # the `into` of a call that wants the whole object as it is


class OwnerReference(msgspec.Struct, frozen=True, rename="camel", gc=False):
    """The object that another one goes down with."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool | None = None
    block_owner_deletion: bool | None = None


class Metadata(msgspec.Struct, frozen=True, rename="camel", gc=False):
    """What Kubernetes knows of every object; times as the server writes them."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    owner_references: tuple[OwnerReference, ...] = ()
    finalizers: tuple[str, ...] = ()
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None


class PartialObject(msgspec.Struct, frozen=True):
    """What every projection has at least."""

    metadata: Metadata = Metadata()
