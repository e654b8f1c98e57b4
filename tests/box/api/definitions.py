"""The definitions as they are shipped, and how the tests bring them to the box's API server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import yaml

from box.kube.api import ApiError
from box.layout import REPOSITORY
from tests.box.driving import Box, eventually

Object = dict[str, Any]

GROUP_PATH = "/apis/etcd.database.coreos.com/v1beta2"
DEFINITIONS_PATH = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
PLURALS = {"EtcdCluster": "etcdclusters", "EtcdBackup": "etcdbackups", "EtcdRestore": "etcdrestores"}
CRDS = REPOSITORY / "deploy" / "crds"
ADMISSION = REPOSITORY / "deploy" / "admission"


def shipped() -> list[Object]:
    """The three definitions in `deploy/crds`."""
    texts = [path.read_text() for path in sorted(CRDS.glob("*.yaml"))]
    return [manifest for text in texts for manifest in yaml.safe_load_all(text)]


def policies() -> list[Object]:
    texts = [path.read_text() for path in sorted(ADMISSION.glob("*.yaml"))]
    return [manifest for text in texts for manifest in yaml.safe_load_all(text)]


def schema_of(definition: Object) -> Object:
    schema: Object = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    return schema


def install(box: Box) -> None:
    """Put the shipped definitions and policies in place, whatever was there, and wait until they are what is served."""
    for definition in shipped():
        put(box, definition)
    for kind in PLURALS:
        eventually(partial(serves, box, kind), within=60, pause=0.05)
    for manifest in policies():
        box.api.apply(manifest)


def put(box: Box, definition: Object) -> None:
    """Create, or replace as a whole: an apply would leave what others wrote."""
    path = f"{DEFINITIONS_PATH}/{definition['metadata']['name']}"
    try:
        there = box.api.get(path)
    except ApiError as error:
        if not error.not_found:
            raise
        box.api.create(DEFINITIONS_PATH, definition)
        return
    metadata = definition["metadata"] | {"resourceVersion": there["metadata"]["resourceVersion"]}
    box.api.request("PUT", path, body=definition | {"metadata": metadata})


def serves(box: Box, kind: str) -> bool:
    """Whether a definition like ours is in force: no other refuses an object without a spec."""
    empty = {"apiVersion": "etcd.database.coreos.com/v1beta2", "kind": kind, "metadata": {"name": "empty"}}
    try:
        box.api.request("POST", collection(kind), query={"dryRun": "All"}, body=empty)
    except ApiError as error:
        return error.status == 422
    return False


def refusal(box: Box, obj: Object) -> str:
    """Why the server would not take an object, empty if it would. Nothing is stored."""
    query = {"dryRun": "All", "fieldValidation": "Strict"}
    try:
        box.api.request("POST", collection(obj["kind"]), query=query, body=obj)
    except ApiError as error:
        if error.status != 422:
            raise
        return error.message
    return ""


def collection(kind: str, namespace: str = "default") -> str:
    return f"{GROUP_PATH}/namespaces/{namespace}/{PLURALS[kind]}"


def path_of(obj: Mapping[str, Any], namespace: str) -> str:
    return f"{collection(obj['kind'], namespace)}/{obj['metadata']['name']}"


@dataclass(frozen=True)
class Node:
    """One place in a schema: `spec.pod.etcdEnv[].name`, `spec.pod.labels{}` for the values of a map."""

    path: str
    schema: Object


def nodes(schema: Object, path: str = "") -> Iterator[Node]:
    """A schema and everything in it, parents first."""
    yield Node(path, schema)
    for name, child in schema.get("properties", {}).items():
        yield from nodes(child, f"{path}.{name}" if path else name)
    if isinstance(items := schema.get("items"), dict):
        yield from nodes(items, f"{path}[]")
    if isinstance(values := schema.get("additionalProperties"), dict):
        yield from nodes(values, f"{path}{{}}")
