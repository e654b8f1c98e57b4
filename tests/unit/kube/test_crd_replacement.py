"""What a newer definition takes over from the one in its place."""

from __future__ import annotations

from typing import Any

import pytest

from etcd_operator.kube.crds import replacement, revision
from etcd_operator.kube.objects import Manifest

KEY = "example.com/revision"


def definition(*versions: str, stored: tuple[str, ...] = (), **metadata: Any) -> Manifest:
    made: Manifest = {
        "metadata": {"name": "things.example.com", **metadata},
        "spec": {"group": "example.com", "versions": [{"name": name, "served": True} for name in versions]},
    }
    return {**made, "status": {"storedVersions": list(stored)}} if stored else made


@pytest.mark.parametrize(
    ("annotations", "number"), [({KEY: "12"}, 12), ({KEY: "0"}, 0), ({KEY: "new"}, -1), ({KEY: "-3"}, -1), ({}, -1)]
)
def test_a_revision_is_a_number_in_an_annotation(annotations: dict[str, str], number: int) -> None:
    assert revision(definition("v1", annotations=annotations), KEY) == number


def test_a_definition_without_annotations_has_no_revision() -> None:
    assert revision(definition("v1"), KEY) == -1
    assert revision(definition("v1", annotations=None), KEY) == -1


def test_identity_and_the_words_of_others_are_kept() -> None:
    old = definition(
        "v1", uid="u", resourceVersion="5", finalizers=["f"], labels={"a": "1"}, annotations={"b": "1", KEY: "1"}
    )
    new = definition("v1", annotations={KEY: "2"})

    metadata = replacement(old, new)["metadata"]

    assert metadata == {
        "name": "things.example.com",
        "uid": "u",
        "resourceVersion": "5",
        "finalizers": ["f"],
        "labels": {"a": "1"},
        "annotations": {"b": "1", KEY: "2"},
    }


def test_versions_that_objects_are_stored_in_stay_and_others_go() -> None:
    old = definition("v1alpha1", "v1beta1", "v1", stored=("v1beta1", "v1"))

    versions = replacement(old, definition("v1"))["spec"]["versions"]

    assert [(version["name"], version["served"]) for version in versions] == [("v1", True), ("v1beta1", False)]
    assert versions[1]["storage"] is False


def test_nothing_given_is_changed() -> None:
    old, new = definition("v1beta1", stored=("v1beta1",)), definition("v1", annotations={KEY: "2"})

    replacement(old, new)

    assert old == definition("v1beta1", stored=("v1beta1",))
    assert new == definition("v1", annotations={KEY: "2"})
