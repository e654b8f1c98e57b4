"""A kind of the tests' own, as an operator of old would have defined it and as a new one does.

The old form has no schema and no status subresource, so that one PUT writes everything; the new one has both, and its
conditions are a list of keyed items.
"""

from __future__ import annotations

from typing import Any

from etcd_operator.kube.objects import Manifest
from etcd_operator.kube.resources import Resource

GROUP = "tests.example.com"
REVISION = f"{GROUP}/revision"
TEXT = {"type": "string"}


def kind(word: str) -> Resource:
    """Each test has a kind of its own: a definition that was deleted takes a while to be gone."""
    return Resource(group=GROUP, version="v1", plural=f"{word}s", kind=word.capitalize())


def old_definition(resource: Resource, *, version: str = "v1", revision: int | None = None) -> Manifest:
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    return _definition(resource, {**_version(version, anything), "storage": True}, revision)


def new_definition(resource: Resource, *, revision: int = 1) -> Manifest:
    condition = {"type": "object", "required": ["type"], "properties": {"type": TEXT, "status": TEXT}}
    keyed = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"]}
    properties = {
        "phase": TEXT,
        "size": {"type": "integer"},
        "members": {"type": "object", "properties": {"ready": {"type": "array", "items": TEXT}}},
        "conditions": {"type": "array", "items": condition, **keyed},
    }
    spec = {"type": "object", "properties": {"size": {"type": "integer"}}}
    schema = {"type": "object", "properties": {"spec": spec, "status": {"type": "object", "properties": properties}}}
    return _definition(resource, {**_version("v1", schema), "storage": True, "subresources": {"status": {}}}, revision)


def _definition(resource: Resource, version: dict[str, Any], revision: int | None) -> Manifest:
    annotations = {} if revision is None else {REVISION: str(revision)}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{resource.plural}.{resource.group}", "annotations": annotations},
        "spec": {
            "group": resource.group,
            "scope": "Namespaced",
            "names": {"plural": resource.plural, "singular": resource.kind.lower(), "kind": resource.kind},
            "versions": [version],
        },
    }


def _version(name: str, schema: Any) -> dict[str, Any]:
    return {"name": name, "served": True, "storage": False, "schema": {"openAPIV3Schema": schema}}
