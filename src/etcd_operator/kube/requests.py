"""What is asked of the API server, call by call, as plain values.

Everything that can be got wrong about a request (path, query, content type, preconditions) is decided here, without
input or output; what sends them is a thin shell around this.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from etcd_operator.kube.objects import Manifest
from etcd_operator.kube.resources import Resource

Query = tuple[tuple[str, str], ...]
Body = Mapping[str, Any] | msgspec.Struct


class PatchKind(enum.Enum):
    """How a patch is to be understood, as its content type."""

    JSON = "application/json-patch+json"
    MERGE = "application/merge-patch+json"
    STRATEGIC = "application/strategic-merge-patch+json"  # of built-in kinds only
    APPLY = "application/apply-patch+yaml"  # JSON is YAML


class Request(msgspec.Struct, frozen=True):
    """One call of the API."""

    method: str
    path: str
    query: Query = ()
    body: bytes | None = None
    content_type: str = "application/json"
    accept: str = "application/json"

    def __str__(self) -> str:
        return f"{self.method} {self.path}"

    @property
    def mutates(self) -> bool:
        return self.method != "GET"


class Selection(msgspec.Struct, frozen=True):
    """Which objects of a kind a list or a watch is about."""

    resource: Resource
    namespace: str | None = None
    labels: str = ""
    fields: str = ""

    @property
    def path(self) -> str:
        return self.resource.path(namespace=self.namespace)

    @property
    def query(self) -> Query:
        return _given(labelSelector=self.labels, fieldSelector=self.fields)


def read(path: str, query: Query = ()) -> Request:
    return Request("GET", path, query)


def page(selection: Selection, *, limit: int, token: str = "") -> Request:
    """One page of a list; the token of the page before says where it begins."""
    return read(selection.path, (*selection.query, *_given(limit=str(limit), **{"continue": token})))


def watch(selection: Selection, *, resource_version: str, timeout_seconds: int) -> Request:
    return read(
        selection.path,
        (
            *selection.query,
            ("watch", "true"),
            ("allowWatchBookmarks", "true"),
            ("resourceVersion", resource_version),
            ("timeoutSeconds", str(timeout_seconds)),
        ),
    )


def create(resource: Resource, body: Body, *, namespace: str | None = None) -> Request:
    manifest = complete(resource, body)
    path = resource.path(namespace=_namespace(resource, manifest, namespace))
    return Request("POST", path, body=encode(manifest))


def update(resource: Resource, body: Body, *, subresource: str | None = None) -> Request:
    """Replaces the object, if its resourceVersion is still the one in the manifest."""
    manifest = complete(resource, body)
    return Request("PUT", path_of(resource, manifest, subresource=subresource), body=encode(manifest))


def apply(
    resource: Resource, body: Body, *, field_manager: str, force: bool = True, subresource: str | None = None
) -> Request:
    """Server-side apply: the manifest is all that this manager wants, and no more than that is touched."""
    manifest = complete(resource, body)
    return Request(
        "PATCH",
        path_of(resource, manifest, subresource=subresource),
        query=(("fieldManager", field_manager), ("force", "true" if force else "false")),
        body=encode(manifest),
        content_type=PatchKind.APPLY.value,
    )


def patch(path: str, change: Mapping[str, Any] | Sequence[Manifest], *, kind: PatchKind, query: Query = ()) -> Request:
    return Request("PATCH", path, query=query, body=encode(change), content_type=kind.value)


def delete(
    path: str,
    *,
    uid: str | None = None,
    resource_version: str | None = None,
    grace_seconds: int | None = None,
    propagation: str | None = None,
) -> Request:
    """Only the object with that UID and version, where they are given: the name may be another object's by now."""
    preconditions = {
        key: value for key, value in (("uid", uid), ("resourceVersion", resource_version)) if value is not None
    }
    options: Manifest = {"apiVersion": "v1", "kind": "DeleteOptions"}
    if preconditions:
        options["preconditions"] = preconditions
    if grace_seconds is not None:
        options["gracePeriodSeconds"] = grace_seconds
    if propagation is not None:
        options["propagationPolicy"] = propagation
    return Request("DELETE", path, body=encode(options))


def complete(resource: Resource, body: Body) -> Manifest:
    """The manifest with the kind and version that the resource says it has."""
    plain = dict(body) if isinstance(body, Mapping) else msgspec.to_builtins(body)
    return {**plain, "apiVersion": resource.api_version, "kind": resource.kind}


def path_of(resource: Resource, manifest: Manifest, *, subresource: str | None = None) -> str:
    name = manifest.get("metadata", {}).get("name")
    if not name:
        raise ValueError(f"a {resource.kind} without a name")
    return resource.path(namespace=_namespace(resource, manifest, None), name=name, subresource=subresource)


def encode(value: Any) -> bytes:  # noqa: ANN401 - whatever JSON can say
    return msgspec.json.encode(value)


def _namespace(resource: Resource, manifest: Manifest, given: str | None) -> str | None:
    if not resource.namespaced:
        return None
    own = manifest.get("metadata", {}).get("namespace") or None
    if given and own and given != own:
        raise ValueError(f"a {resource.kind} of namespace {own} cannot be made in {given}")
    if not (given or own):
        raise ValueError(f"a {resource.kind} lives in a namespace, and the manifest has none")
    return given or own


def _given(**parameters: str) -> Query:
    return tuple((key, value) for key, value in parameters.items() if value)
