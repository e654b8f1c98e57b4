"""The generated CRDs, walked the way a reader of them would: by the data alone, without the types."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from etcd_operator.api.crd import definitions

Node = dict[str, Any]


def roots() -> dict[str, Node]:
    """The schema of each kind."""
    return {
        made["spec"]["names"]["kind"]: made["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
        for made in definitions()
    }


def nodes(node: Node, path: str = "") -> Iterator[tuple[str, Node]]:
    """A schema and all schemas inside it, each with its path; `[]` is an entry of a list and `{}` a value of a map."""
    yield path, node
    for name, inner in node.get("properties", {}).items():
        yield from nodes(inner, f"{path}.{name}" if path else name)
    if "items" in node:
        yield from nodes(node["items"], f"{path}[]")
    if "additionalProperties" in node:
        yield from nodes(node["additionalProperties"], f"{path}{{}}")


def every_node() -> list[tuple[str, Node]]:
    """All schemas of all kinds, each with its path below the kind."""
    return [(f"{kind}.{path}", node) for kind, root in roots().items() for path, node in nodes(root)]


def at(kind: str, path: str) -> Node:
    return dict(nodes(roots()[kind]))[path]
