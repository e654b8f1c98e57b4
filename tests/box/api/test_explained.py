"""`kubectl explain` has words for every field."""

from __future__ import annotations

from typing import Any

import pytest

from tests.box.api.definitions import Node, nodes, schema_of, shipped
from tests.box.driving import Box, eventually

Object = dict[str, Any]

PUBLISHED = "/openapi/v3/apis/etcd.database.coreos.com/v1beta2"
SILENT = ("<no description>", "<empty>")


def shipped_schemas() -> dict[str, Object]:
    return {definition["spec"]["names"]["kind"]: schema_of(definition) for definition in shipped()}


def own(found: Node) -> bool:
    """A field of ours: values of lists and maps are explained by their field, and metadata by Kubernetes."""
    return not found.path.startswith("metadata") and not found.path.endswith(("[]", "{}"))


def fields(schema: Object) -> set[str]:
    return {node.path for node in nodes(schema) if own(node)}


def published(box: Box) -> dict[str, Object]:
    """What the server says to `kubectl explain` and to every other client, by kind."""
    schemas = box.api.get(PUBLISHED)["components"]["schemas"]
    return {name.rpartition(".")[2]: schema for name, schema in schemas.items()}


def silent(schema: Object) -> list[str]:
    return [node.path for node in nodes(schema) if own(node) and not node.schema.get("description")]


def test_the_published_schema_describes_every_field(box: Box) -> None:
    def complete() -> bool:
        """What is published follows what is served, a moment later."""
        there = published(box)
        return all(fields(schema) <= fields(there.get(kind, {})) for kind, schema in shipped_schemas().items())

    assert eventually(complete, within=60)
    assert [path for kind in shipped_schemas() for path in silent(published(box)[kind])] == []


def test_a_field_without_words_would_be_noticed() -> None:
    schema = shipped_schemas()["EtcdCluster"]
    del schema["properties"]["spec"]["properties"]["size"]["description"]

    assert silent(schema) == ["spec.size"]


def explained_pages() -> list[str]:
    """Every place with fields inside, down to where the types of Kubernetes begin."""
    return [
        ".".join(filter(None, (kind.lower(), node.path.replace("[]", ""))))
        for kind, schema in shipped_schemas().items()
        for node in nodes(schema)
        if "properties" in node.schema and not node.path.startswith(("metadata", "spec.pod."))
    ]


def test_the_pages_that_people_open_are_among_those_that_are_looked_at() -> None:
    opened = {"etcdcluster", "etcdcluster.spec.pod", "etcdcluster.spec.TLS.static", "etcdbackup.spec.s3"}

    assert opened <= set(explained_pages())


@pytest.mark.parametrize("page", explained_pages())
def test_explain_leaves_no_field_without_words(box: Box, page: str) -> None:
    text = box.kubectl("explain", page)

    assert "DESCRIPTION:" in text
    assert [word for word in SILENT if word in text] == []


def test_explain_says_unit_default_and_what_a_change_does(box: Box) -> None:
    text = " ".join(box.kubectl("explain", "etcd.spec.size").split())

    assert "How many members the cluster has" in text
    assert "Can change later; no member restarts." in text
