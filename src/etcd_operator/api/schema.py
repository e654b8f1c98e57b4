"""The pieces of a structural schema, one short function each, so that a table of fields reads like a table.

Every piece but those inside a list or a map has a text: a field that nobody explained cannot be written down here.
"""

from __future__ import annotations

from collections.abc import Mapping

from etcd_operator.api.field import Schema

QUANTITY = r"^[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?$"


def string(text: str) -> Schema:
    return {"type": "string", "description": text}


def integer(text: str, *, width: int = 64) -> Schema:
    return {"type": "integer", "format": f"int{width}", "description": text}


def boolean(text: str) -> Schema:
    return {"type": "boolean", "description": text}


def quantity(text: str) -> Schema:
    """A Kubernetes quantity: `2`, `500m`, `8Gi`."""
    return {"x-kubernetes-int-or-string": True, "pattern": QUANTITY, "description": text}


def quantities(text: str) -> Schema:
    return mapping(quantity("An amount, such as 500m or 2Gi."), text)


def mapping(of: Schema, text: str) -> Schema:
    return {"type": "object", "additionalProperties": of, "description": text}


def words(text: str) -> Schema:
    """A map of words, such as labels."""
    return {"type": "object", "additionalProperties": {"type": "string"}, "description": text}


def strings(text: str) -> Schema:
    return {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "atomic", "description": text}


def array(of: Schema, text: str) -> Schema:
    return {"type": "array", "items": of, "x-kubernetes-list-type": "atomic", "description": text}


def table(text: str, fields: Mapping[str, Schema], *, required: tuple[str, ...] = (), atomic: bool = False) -> Schema:
    """An object with these fields. `atomic`: it is only ever replaced as a whole, as Kubernetes declares it."""
    return {
        "type": "object",
        "description": text,
        **({"required": list(required)} if required else {}),
        **({"x-kubernetes-map-type": "atomic"} if atomic else {}),
        "properties": dict(fields),
    }
