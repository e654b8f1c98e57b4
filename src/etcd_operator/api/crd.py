"""The CustomResourceDefinitions, made from the types: plain data, for files and for the operator to keep current.

Raise `REVISION` with every change of the schema: an operator replaces a CRD of a lower number by its own and leaves a
higher one alone, so that the older of two operators never takes fields away from the newer one's objects.

Kubernetes 1.30 is the oldest that they suit: rules read optional fields with `?`, and objects stored before there were
rules can be changed because the API server tolerates what a change leaves as it was.
"""

from __future__ import annotations

from typing import Any

import msgspec

from etcd_operator.api.field import Schema
from etcd_operator.api.kinds import KINDS, Kind
from etcd_operator.api.names import CRD_REVISION, GROUP, VERSION
from etcd_operator.api.structural import field_schema, rules_of, validations

REVISION = 1


def definitions() -> tuple[dict[str, Any], ...]:
    return tuple(definition(kind) for kind in KINDS)


def definition(kind: Kind) -> dict[str, Any]:
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{kind.plural}.{GROUP}", "annotations": {CRD_REVISION: str(REVISION)}},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {
                "kind": kind.name,
                "listKind": f"{kind.name}List",
                "plural": kind.plural,
                "singular": kind.singular,
                "shortNames": [kind.short],
                "categories": ["etcd-operator"],
            },
            "preserveUnknownFields": False,  # the old operator's CRD had it on, and an apply must switch it off
            "versions": [version(kind)],
        },
    }


def version(kind: Kind) -> Schema:
    return {
        "name": VERSION,
        "served": True,
        "storage": True,
        "subresources": {"status": {}, **({"scale": dict(kind.scale)} if kind.scale else {})},
        "additionalPrinterColumns": [column.schema() for column in kind.columns],
        "schema": {"openAPIV3Schema": root_schema(kind)},
    }


def root_schema(kind: Kind) -> Schema:
    fields = {field.name: field for field in msgspec.structs.fields(kind.type)}
    return {
        "type": "object",
        "description": (kind.type.__doc__ or "").strip(),
        "required": ["spec"],
        "properties": {
            "apiVersion": {"type": "string", "description": f"The version of the API: {GROUP}/{VERSION}."},
            "kind": {"type": "string", "description": f"The kind of the object: {kind.name}."},
            "metadata": metadata_schema(kind),
            "spec": field_schema(kind.type, fields["spec"]),
            "status": field_schema(kind.type, fields["status"]),
        },
        **validations(rules_of(kind.type)),
    }


def metadata_schema(kind: Kind) -> Schema:
    """A limit on the name stands here and is no rule of the root: such a rule would run on each write of a status too.

    Kubernetes describes metadata itself and takes nothing else here.
    """
    name = {"properties": {"name": {"type": "string", **kind.name_limits}}} if kind.name_limits else {}
    return {"type": "object", **name}
