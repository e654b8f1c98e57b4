"""Lenient in, strict out.

In: objects were stored by an operator without any schema, and are edited by hand. Unknown fields are passed over and
null means that nothing was given. A spec that still makes no sense is a value, `Unreadable`, that names the field:
the loop of that object reports it and every other loop goes on. Of a status only the parts that make no sense are
dropped, as it is ours to write anew.

Out: the only thing that is ever written to one of these objects is its status, whole, as an apply. What is not set is
not in it, and so the API server removes it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from types import NoneType
from typing import Annotated, Any, NamedTuple, TypeGuard, TypeVar, get_args, get_origin

import msgspec

from etcd_operator.api.kinds import Object
from etcd_operator.api.names import API_VERSION
from etcd_operator.api.stored import Metadata, Part, Source, Stored

K = TypeVar("K", bound=Object)
P = TypeVar("P", bound=msgspec.Struct)

PLACE = re.compile(r"^(?P<what>.*?)(?: - at `\$(?P<path>[^`]*)`)?$", re.DOTALL)
MISSING = re.compile(r"missing required field `(?P<name>[^`]+)`")


class Unreadable(msgspec.Struct, frozen=True, kw_only=True):
    """An object whose spec makes no sense, and where."""

    metadata: Metadata
    field: str
    message: str


def stored(manifest: Mapping[str, Any]) -> Stored:
    """A plain object, as JSON or YAML gave it."""
    return msgspec.convert(manifest, Stored)


def decode(kind: type[K], source: Source) -> K | Unreadable:
    """The object as its type, or what is wrong with its spec."""
    struct: type[msgspec.Struct] = kind
    spec_type, status_type = (_layout(struct)[part].type for part in ("spec", "status"))
    given = {} if source.spec is None else source.spec
    try:
        spec = msgspec.convert(without_nulls(given, spec_type), spec_type)
    except msgspec.ValidationError as error:
        field, message = place(str(error))
        return Unreadable(metadata=source.metadata, field=f"spec{field}", message=message)
    return kind(metadata=source.metadata, spec=spec, status=salvaged(source.status, status_type))


def status_apply(kind: type[Object], metadata: Metadata, status: Part) -> dict[str, Any]:
    """What is sent to the status subresource; the UID keeps it from an object that took the name meanwhile."""
    return {
        "apiVersion": API_VERSION,
        "kind": kind.__name__,
        "metadata": {"name": metadata.name, "namespace": metadata.namespace, "uid": metadata.uid},
        "status": msgspec.json.decode(msgspec.json.encode(status)),
    }


def place(error: str) -> tuple[str, str]:
    """Where msgspec met what it did not expect, and what that was."""
    found = PLACE.match(error)
    what, path = (found["what"], found["path"] or "") if found else (error, "")
    missing = MISSING.search(what)
    return (f"{path}.{missing['name']}", "is missing") if missing else (path, what)


def without_nulls(value: object, kind: object) -> object:
    """`value` without the fields of ours that are null; what belongs to Kubernetes stays as it is."""
    if not _is_struct(kind) or not isinstance(value, Mapping):
        return value
    given = ((name, field.type) for name, field in _layout(kind).items() if value.get(name) is not None)
    return {name: without_nulls(value[name], inner) for name, inner in given}


def salvaged(value: object, kind: type[P]) -> P:
    """A status with as much of `value` as makes sense."""
    found = _read(value, kind)
    return found if isinstance(found, kind) else kind()


def _read(value: object, kind: object) -> object:
    """`value` as `kind`, or what makes sense of it, or None."""
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError:
        pass
    if get_origin(kind) is tuple and isinstance(value, list):
        entries = (_read(entry, get_args(kind)[0]) for entry in value)
        return tuple(entry for entry in entries if entry is not None)
    return _pieces(value, kind) if _is_struct(kind) and isinstance(value, Mapping) else None


def _pieces(value: Mapping[str, object], kind: type[msgspec.Struct]) -> msgspec.Struct | None:
    read = {field.name: _read(value.get(name), field.type) for name, field in _layout(kind).items()}
    try:
        return kind(**{name: found for name, found in read.items() if found is not None})
    except TypeError:  # a field that it cannot do without, such as the type of a condition, made no sense
        return None


class _Place(NamedTuple):
    """A field's name in Python, and its type without its declaration and without `None`."""

    name: str
    type: Any


@cache  # msgspec looks all annotations up again at each call, which takes a hundred times as long as to decode
def _layout(struct: type[msgspec.Struct]) -> Mapping[str, _Place]:
    """The fields of a struct by their names in JSON."""
    return {field.encode_name: _Place(field.name, bare(field.type)) for field in msgspec.structs.fields(struct)}


def bare(annotated: object) -> Any:  # noqa: ANN401
    """A field's type without its declaration and without `None`."""
    plain = get_args(annotated)[0] if get_origin(annotated) is Annotated else annotated
    parts = [part for part in get_args(plain) if part is not NoneType]
    return parts[0] if NoneType in get_args(plain) and len(parts) == 1 else plain


def _is_struct(kind: object) -> TypeGuard[type[msgspec.Struct]]:
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)
