"""A status is written apart from the rest, and becomes ours alone, whoever wrote it before."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from etcd_operator.kube.client import Client
from etcd_operator.kube.crds import ensure
from etcd_operator.kube.errors import ConflictError, InvalidError, NotFoundError
from etcd_operator.kube.objects import Manifest
from etcd_operator.kube.requests import PatchKind
from etcd_operator.kube.resources import Resource
from tests.box.driving import Box
from tests.box.kube.definitions import REVISION, kind, new_definition, old_definition

OURS = "etcd-operator"
OLD_STATUS = {
    "phase": "Running",
    "size": 3,
    "clientPort": 2379,
    "members": {"ready": ["a", "b"]},
    "conditions": [{"type": "Available", "status": "True"}, {"type": "Recovering", "status": "True"}],
}
STATUS = {"phase": "Creating", "conditions": [{"type": "Ready", "status": "True"}]}


@pytest.fixture(scope="module", autouse=True)
def tidiness(box: Box) -> Iterator[None]:
    """Kinds are shared by the tests here: the API server takes two seconds for the first object of a new one."""
    yield
    for resource in (kind("widget"), kind("relic")):
        box.kubectl("delete", "crd", f"{resource.plural}.{resource.group}", "--ignore-not-found", "--wait=false")


@pytest.fixture
async def widgets(client: Client) -> Resource:
    """A kind with a schema and a status subresource."""
    await ensure(client, new_definition(kind("widget")), revision_key=REVISION)
    return kind("widget")


async def old_object(client: Client, resource: Resource, name: str, place: str) -> Manifest:
    """As an old operator left it, and with its kind's definition replaced since."""
    await ensure(client, old_definition(resource, revision=0), revision_key=REVISION)
    made = await client.create(resource, named(name, place, spec={"size": 3}))
    old = await client.update(resource, {**made, "status": OLD_STATUS})
    await ensure(client, new_definition(resource), revision_key=REVISION)
    return old


def named(name: str, namespace: str, **rest: Any) -> Manifest:
    return {"metadata": {"name": name, "namespace": namespace}, **rest}


async def applied(client: Client, resource: Resource, manifest: Manifest) -> Manifest:
    """With patience: a definition that was just replaced is served a moment later."""
    for _ in range(100):
        try:
            return await client.apply_status(resource, manifest, manager=OURS)
        except NotFoundError:
            await asyncio.sleep(0.1)
    raise AssertionError("the status subresource never came")


def owners_of_status(found: Manifest) -> list[tuple[str, str]]:
    claims = found["metadata"].get("managedFields", [])
    return [(claim["manager"], claim["operation"]) for claim in claims if "f:status" in claim["fieldsV1"]]


async def test_a_status_and_the_rest_are_written_apart(client: Client, widgets: Resource, place: str) -> None:
    made = await client.create(widgets, named("split", place, spec={"size": 3}, status={"phase": "Wrong"}))
    assert "status" not in made

    stated = named("split", place, spec={"size": 5}, status=STATUS)
    found = await client.apply_status(widgets, stated, manager=OURS)

    assert (found["spec"], found["status"]) == ({"size": 3}, STATUS)
    assert found["metadata"]["generation"] == 1


async def test_a_status_that_is_ours_takes_one_request_and_none_of_it_is_written_twice(
    client: Client, widgets: Resource, place: str
) -> None:
    await client.create(widgets, named("calm", place, spec={"size": 3}))
    first = await client.apply_status(widgets, named("calm", place, status=STATUS), manager=OURS)

    second = await client.apply_status(widgets, named("calm", place, status=STATUS), manager=OURS)

    assert second["metadata"]["resourceVersion"] == first["metadata"]["resourceVersion"]


async def test_nothing_stays_of_what_an_old_operator_wrote(client: Client, place: str) -> None:
    relics = kind("relic")
    old = await old_object(client, relics, "old", place)
    assert owners_of_status(old) == [("etcd-operator", "Update")]

    found = await applied(client, relics, named("old", place, status=STATUS))

    assert (found["spec"], found["status"]) == ({"size": 3}, STATUS)
    assert owners_of_status(found) == [(OURS, "Apply")]
    assert any("f:spec" in claim["fieldsV1"] for claim in found["metadata"]["managedFields"])

    later = await client.apply_status(relics, named("old", place, status={"phase": "Running"}), manager=OURS)
    assert later["status"] == {"phase": "Running"}


async def test_an_object_whose_owners_nobody_recorded_becomes_ours(
    client: Client, widgets: Resource, place: str
) -> None:
    await client.create(widgets, named("bare", place, spec={"size": 3}))
    await client.patch(
        widgets, "bare", {"status": OLD_STATUS}, kind=PatchKind.MERGE, namespace=place, subresource="status"
    )
    nobody = [{"op": "replace", "path": "/metadata/managedFields", "value": [{}]}]
    bare = await client.patch(widgets, "bare", nobody, kind=PatchKind.JSON, namespace=place)
    assert "managedFields" not in bare["metadata"]

    found = await client.apply_status(widgets, named("bare", place, status=STATUS), manager=OURS)

    assert (found["spec"], found["status"]) == ({"size": 3}, STATUS)
    assert owners_of_status(found) == [(OURS, "Apply")]


async def test_a_list_that_another_claims_can_be_dropped(client: Client, widgets: Resource, place: str) -> None:
    """The API server leaves null in its place, which the schema refuses."""
    await client.create(widgets, named("null", place, spec={"size": 3}))
    await client.apply_status(widgets, named("null", place, status=STATUS), manager=OURS)
    whole: Manifest = {"f:status": {".": {}, "f:conditions": {}}}
    claim = {"manager": "other", "operation": "Update", "apiVersion": widgets.api_version, "fieldsType": "FieldsV1"}
    claims = [{"op": "add", "path": "/metadata/managedFields/-", "value": {**claim, "fieldsV1": whole}}]
    await client.patch(widgets, "null", claims, kind=PatchKind.JSON, namespace=place)
    less = named("null", place, status={"phase": "Failed"})
    with pytest.raises(InvalidError, match="must be of type array"):
        await client.apply(widgets, less, manager=OURS, subresource="status")

    found = await client.apply_status(widgets, less, manager=OURS)

    assert found["status"] == {"phase": "Failed"}
    assert owners_of_status(found) == [(OURS, "Apply")]


async def test_two_writers_of_one_status_do_not_fail(client: Client, widgets: Resource, place: str) -> None:
    await client.create(widgets, named("busy", place, spec={"size": 3}))

    async def write(manager: str, phase: str) -> None:
        for _ in range(5):
            await client.apply_status(widgets, named("busy", place, status={"phase": phase}), manager=manager)

    await asyncio.gather(write("first", "A"), write("second", "B"))

    found = await client.get(widgets, "busy", namespace=place)
    assert found["status"]["phase"] in ("A", "B")
    assert len(owners_of_status(found)) == 1


def version_of(found: Manifest) -> str:
    return str(found["metadata"]["resourceVersion"])


def at_version(manifest: Manifest, version: str) -> Manifest:
    return {**manifest, "metadata": {**manifest["metadata"], "resourceVersion": version}}


async def test_a_status_that_was_decided_on_another_version_is_not_written(
    client: Client, widgets: Resource, place: str
) -> None:
    seen = version_of(await client.create(widgets, named("moved", place, spec={"size": 3})))
    change = {"spec": {"size": 5}}
    await client.patch(widgets, "moved", change, kind=PatchKind.MERGE, namespace=place)

    with pytest.raises(ConflictError):
        await client.apply_status(widgets, at_version(named("moved", place, status=STATUS), seen), manager=OURS)

    assert "status" not in await client.get(widgets, "moved", namespace=place)


async def test_what_is_written_of_our_own_on_the_way_does_not_count_as_another_version(
    client: Client, widgets: Resource, place: str
) -> None:
    await client.create(widgets, named("shared", place, spec={"size": 3}))
    others = await client.patch(
        widgets, "shared", {"status": OLD_STATUS}, kind=PatchKind.MERGE, namespace=place, subresource="status"
    )
    assert owners_of_status(others) != [(OURS, "Apply")]

    stated = at_version(named("shared", place, status=STATUS), version_of(others))
    found = await client.apply_status(widgets, stated, manager=OURS)

    assert found["status"] == STATUS
    assert owners_of_status(found) == [(OURS, "Apply")]
    again = at_version(named("shared", place, status={"phase": "Running"}), version_of(found))
    assert (await client.apply_status(widgets, again, manager=OURS))["status"] == {"phase": "Running"}
