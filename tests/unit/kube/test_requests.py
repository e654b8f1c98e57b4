"""What is asked of the API server, before anything is sent."""

from __future__ import annotations

import json

import msgspec
import pytest

from etcd_operator.kube import requests
from etcd_operator.kube.objects import Metadata, PartialObject
from etcd_operator.kube.requests import PatchKind, Selection
from etcd_operator.kube.resources import LEASES, NAMESPACES, PODS

NAMED = {"metadata": {"name": "a", "namespace": "n"}}


def test_a_manifest_gets_the_kind_and_version_of_its_resource() -> None:
    request = requests.apply(LEASES, NAMED, field_manager="m")

    body = json.loads(request.body or b"")
    assert (body["apiVersion"], body["kind"]) == ("coordination.k8s.io/v1", "Lease")
    assert request.content_type == PatchKind.APPLY.value
    assert request.query == (("fieldManager", "m"), ("force", "true"))
    assert NAMED == {"metadata": {"name": "a", "namespace": "n"}}


def test_structs_are_manifests_too() -> None:
    class Thing(PartialObject, frozen=True, rename="camel"):
        some_field: int = 1

    request = requests.update(PODS, Thing(Metadata(name="a", namespace="n", resource_version="5")))

    assert (request.method, request.path) == ("PUT", "/api/v1/namespaces/n/pods/a")
    body = json.loads(request.body or b"")
    assert body["someField"] == 1
    assert body["metadata"]["resourceVersion"] == "5"


def test_a_creation_takes_its_namespace_from_the_call_or_the_manifest_and_they_may_not_differ() -> None:
    assert requests.create(PODS, {"metadata": {"name": "a"}}, namespace="n").path == "/api/v1/namespaces/n/pods"
    assert requests.create(PODS, NAMED).path == "/api/v1/namespaces/n/pods"
    assert requests.create(NAMESPACES, {"metadata": {"name": "a"}}).path == "/api/v1/namespaces"
    with pytest.raises(ValueError, match="of namespace n cannot be made in other"):
        requests.create(PODS, NAMED, namespace="other")
    with pytest.raises(ValueError, match="the manifest has none"):
        requests.create(PODS, {"metadata": {"name": "a"}})


def test_a_manifest_without_a_name_cannot_be_applied() -> None:
    with pytest.raises(ValueError, match="a Pod without a name"):
        requests.apply(PODS, {"metadata": {"namespace": "n"}}, field_manager="m")


def test_a_deletion_says_only_what_it_was_told() -> None:
    plain = json.loads(requests.delete("/x").body or b"")
    full = requests.delete("/x", uid="u", resource_version="7", grace_seconds=0, propagation="Foreground")

    assert plain == {"apiVersion": "v1", "kind": "DeleteOptions"}
    assert json.loads(full.body or b"") == {
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "preconditions": {"uid": "u", "resourceVersion": "7"},
        "gracePeriodSeconds": 0,
        "propagationPolicy": "Foreground",
    }


def test_pages_and_watches_carry_the_selection() -> None:
    selection = Selection(PODS, namespace="n", labels="a=b", fields="metadata.name=x")

    page = requests.page(selection, limit=5, token="t")
    watch = requests.watch(selection, resource_version="9", timeout_seconds=30)

    assert dict(page.query) == {
        "labelSelector": "a=b",
        "fieldSelector": "metadata.name=x",
        "limit": "5",
        "continue": "t",
    }
    assert dict(watch.query)["resourceVersion"] == "9"
    assert dict(watch.query)["allowWatchBookmarks"] == "true"
    assert dict(requests.page(Selection(PODS), limit=5).query) == {"limit": "5"}


def test_a_request_shows_no_body() -> None:
    request = requests.create(PODS, {**NAMED, "data": {"password": "hunter2"}})

    assert str(request) == "POST /api/v1/namespaces/n/pods"


def test_only_reads_do_not_mutate() -> None:
    assert not requests.read("/x").mutates
    assert requests.delete("/x").mutates
    assert requests.patch("/x", [], kind=PatchKind.JSON).mutates


def test_raw_json_is_sent_as_it_is() -> None:
    body = requests.create(PODS, {**NAMED, "spec": msgspec.Raw(b'{"x":  1}')}).body

    assert b'{"x":  1}' in (body or b"")
