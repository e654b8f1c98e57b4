"""From the types to structural schemas: the only place that knows both msgspec and Kubernetes' dialect of JSON schema.

It walks the annotations and refuses what it does not know, so that a field without a declaration, a declaration in a
place where it would be overlooked or a type that has no schema is an error when the CRDs are generated, never a rule
that is silently missing from them.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import msgspec

from etcd_operator.api.field import Embedded, Field, Rule, Schema

SCALARS: Mapping[Any, Schema] = {
    str: {"type": "string"},
    int: {"type": "integer", "format": "int64"},
    bool: {"type": "boolean"},
    datetime: {"type": "string"},  # no format: what an old operator wrote must not make a status unwritable
}


class UndeclaredError(TypeError):
    """A type or field that cannot be put into a CRD as it is declared."""


def object_schema(struct: type[msgspec.Struct]) -> Schema:
    """The schema of a struct: its fields, which of them are needed, and its rules; its text is its field's."""
    fields = msgspec.structs.fields(struct)
    required = [field.encode_name for field in fields if field.required]
    return {
        "type": "object",
        **({"required": required} if required else {}),
        "properties": {field.encode_name: field_schema(struct, field) for field in fields},
        **validations(rules_of(struct)),
    }


def rules_of(struct: type[msgspec.Struct]) -> tuple[Rule, ...]:
    return getattr(struct, "RULES", ())


def validations(rules: tuple[Rule, ...]) -> Schema:
    return {"x-kubernetes-validations": [rule.schema() for rule in rules]} if rules else {}


def declaration(struct: type[msgspec.Struct], field: msgspec.structs.FieldInfo) -> tuple[object, Field]:
    """The bare type and what is declared of it."""
    declared = [extra for extra in get_args(field.type)[1:] if isinstance(extra, Field)]
    if get_origin(field.type) is not Annotated or len(declared) != 1:
        raise UndeclaredError(f"{struct.__name__}.{field.name} needs one Field(…), as its outermost annotation")
    return get_args(field.type)[0], declared[0]


def field_schema(struct: type[msgspec.Struct], field: msgspec.structs.FieldInfo) -> Schema:
    bare, declared = declaration(struct, field)
    kind = without_none(bare)
    made = type_schema(kind, embedded=declared.embedded, where=f"{struct.__name__}.{field.name}")
    default = server_default(field)
    return {
        **{word: value for word, value in made.items() if word not in {"description", "x-kubernetes-validations"}},
        **declared.limits.schema(),
        **listing(kind, declared),
        **default,
        "description": declared.description(default=said(default)),
        **merged_validations(made, declared),
    }


def merged_validations(made: Schema, declared: Field) -> Schema:
    """Rules of the type and rules of the field, on the same node."""
    both = [*made.get("x-kubernetes-validations", ()), *(rule.schema() for rule in declared.rules)]
    return {"x-kubernetes-validations": both} if both else {}


def listing(kind: object, declared: Field) -> Schema:
    """How the entries of a list are told apart when two managers write it; all or nothing unless keys are declared."""
    if get_origin(kind) is not tuple:
        return {}
    if declared.keys:
        return {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": list(declared.keys)}
    return {"x-kubernetes-list-type": "atomic"}


def server_default(field: msgspec.structs.FieldInfo) -> Schema:
    """The default that the API server fills in: the one of the type, unless it only means that nothing was given."""
    default = field.default
    if default in (msgspec.NODEFAULT, None, "") or isinstance(default, msgspec.Struct):
        return {}
    return {"default": default}


def said(default: Schema) -> str | None:
    if not default:
        return None
    value = default["default"]
    return str(value).lower() if isinstance(value, bool) else str(value)


def without_none(bare: object) -> object:
    """The one type that is left without `None`: the API server drops every null by itself where none is declared."""
    if get_origin(bare) not in {Union, UnionType}:
        return bare
    rest = [part for part in get_args(bare) if part is not NoneType]
    if len(rest) != 1:
        raise UndeclaredError(f"{bare} is a choice of types, which a structural schema cannot express")
    return rest[0]


def item_type(kind: object) -> object:
    """The type of a list's entries, or the type itself."""
    return get_args(kind)[0] if get_origin(kind) is tuple else kind


def type_schema(kind: object, *, embedded: Embedded | None, where: str) -> Schema:
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is tuple:
        return {"type": "array", "items": item_schema(arguments[0], embedded=embedded, where=where)}
    if embedded is not None:
        return embedded.schema
    if kind in SCALARS:
        return SCALARS[kind]
    if origin is Literal:
        return {"type": "string", "enum": list(arguments)}
    if isinstance(origin, type) and issubclass(origin, Mapping) and arguments == (str, str):
        return {"type": "object", "additionalProperties": {"type": "string"}}
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return object_schema(kind)
    raise UndeclaredError(f"{where}: {kind} has no schema")


def item_schema(kind: object, *, embedded: Embedded | None, where: str) -> Schema:
    """An entry of a list has a text only if it has fields."""
    made = type_schema(kind, embedded=embedded, where=where)
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return {**made, "description": (kind.__doc__ or "").strip()}
    return made
