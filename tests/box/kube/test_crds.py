"""Definitions are created, brought up to date, and never taken back."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from etcd_operator.kube.client import Client
from etcd_operator.kube.crds import DefinitionError, Outcome, ensure
from etcd_operator.kube.errors import InvalidError
from etcd_operator.kube.objects import Manifest
from etcd_operator.kube.requests import PatchKind
from etcd_operator.kube.resources import CUSTOM_RESOURCE_DEFINITIONS, Resource
from tests.box.driving import Box
from tests.box.kube.definitions import GROUP, REVISION, kind, new_definition, old_definition
from tests.box.kube.registry import rewrite


@pytest.fixture
def gadgets(box: Box, request: pytest.FixtureRequest) -> Iterator[Resource]:
    """A kind of the test's own: a definition that was deleted takes a while to be gone."""
    resource = kind("gadget" + request.node.name.removeprefix("test_").replace("_", "")[:30])
    yield resource
    box.kubectl("delete", "crd", name_of(resource), "--ignore-not-found", "--wait=false")


def name_of(resource: Resource) -> str:
    return f"{resource.plural}.{GROUP}"


async def stored(client: Client, resource: Resource) -> Manifest:
    return await client.get(CUSTOM_RESOURCE_DEFINITIONS, name_of(resource))


async def test_one_that_is_absent_is_created_and_can_be_used_at_once(client: Client, gadgets: Resource) -> None:
    assert await ensure(client, new_definition(gadgets), revision_key=REVISION) is Outcome.CREATED

    assert (await client.list(gadgets)).items == []
    assert await ensure(client, new_definition(gadgets), revision_key=REVISION) is Outcome.UNCHANGED


async def test_an_older_one_is_updated_and_keeps_what_others_wrote_on_it(client: Client, gadgets: Resource) -> None:
    old = old_definition(gadgets)
    old["metadata"] |= {"annotations": {"theirs": "1"}, "labels": {"team": "a"}}
    await client.create(CUSTOM_RESOURCE_DEFINITIONS, old)

    assert await ensure(client, new_definition(gadgets, revision=2), revision_key=REVISION) is Outcome.UPDATED

    found = await stored(client, gadgets)
    assert found["metadata"]["annotations"] == {"theirs": "1", REVISION: "2"}
    assert found["metadata"]["labels"] == {"team": "a"}
    assert found["spec"]["versions"][0]["subresources"] == {"status": {}}


async def test_a_newer_one_is_left_alone(client: Client, gadgets: Resource) -> None:
    await ensure(client, new_definition(gadgets, revision=10), revision_key=REVISION)
    before = await stored(client, gadgets)

    assert await ensure(client, old_definition(gadgets, revision=9), revision_key=REVISION) is Outcome.NEWER

    assert (await stored(client, gadgets))["metadata"]["generation"] == before["metadata"]["generation"]


async def test_a_version_that_objects_are_stored_in_is_kept_unserved(client: Client, gadgets: Resource) -> None:
    await client.create(CUSTOM_RESOURCE_DEFINITIONS, old_definition(gadgets, version="v1alpha1"))

    assert await ensure(client, new_definition(gadgets), revision_key=REVISION) is Outcome.UPDATED

    versions = (await stored(client, gadgets))["spec"]["versions"]
    assert {version["name"]: version["served"] for version in versions} == {"v1": True, "v1alpha1": False}


async def test_one_from_before_schemas_were_needed_is_updated(box: Box, client: Client, gadgets: Resource) -> None:
    """v1 lets nobody write such a definition any more, but those that v1beta1 left are still stored."""

    def age(stored: Manifest) -> None:
        stored["spec"]["preserveUnknownFields"] = True
        del stored["spec"]["validation"]  # where the stored form has the schema

    await client.create(CUSTOM_RESOURCE_DEFINITIONS, old_definition(gadgets))
    path = f"apiextensions.k8s.io/customresourcedefinitions/{name_of(gadgets)}"
    await asyncio.to_thread(rewrite, box, path, age)
    assert (await stored(client, gadgets))["spec"]["preserveUnknownFields"] is True

    assert await ensure(client, new_definition(gadgets), revision_key=REVISION) is Outcome.UPDATED

    spec = (await stored(client, gadgets))["spec"]
    assert not spec.get("preserveUnknownFields")
    assert spec["versions"][0]["schema"]["openAPIV3Schema"]["properties"]


async def test_two_operators_may_start_at_once(client: Client, gadgets: Resource) -> None:
    async def start(revision: int) -> Outcome:
        return await ensure(client, new_definition(gadgets, revision=revision), revision_key=REVISION)

    outcomes = await asyncio.gather(*(start(revision) for revision in (1, 1, 2, 2)))

    assert outcomes.count(Outcome.CREATED) == 1
    assert (await stored(client, gadgets))["metadata"]["annotations"][REVISION] == "2"


async def test_one_that_is_being_deleted_is_waited_for_and_made_anew(client: Client, gadgets: Resource) -> None:
    await ensure(client, new_definition(gadgets), revision_key=REVISION)
    hold = {"metadata": {"finalizers": [f"{GROUP}/hold"]}}
    await client.patch(CUSTOM_RESOURCE_DEFINITIONS, name_of(gadgets), hold, kind=PatchKind.MERGE)
    await client.delete(CUSTOM_RESOURCE_DEFINITIONS, name_of(gadgets))

    again = asyncio.create_task(ensure(client, new_definition(gadgets), revision_key=REVISION))
    await asyncio.sleep(0.5)
    assert not again.done()
    release: Manifest = {"metadata": {"finalizers": None}}
    await client.patch(CUSTOM_RESOURCE_DEFINITIONS, name_of(gadgets), release, kind=PatchKind.MERGE)

    assert await again is Outcome.CREATED


async def test_names_that_another_kind_has_are_said_to_be_taken(client: Client, gadgets: Resource) -> None:
    await ensure(client, new_definition(gadgets), revision_key=REVISION)
    rival = kind("rival")
    definition = new_definition(rival)
    definition["spec"]["names"]["shortNames"] = [gadgets.plural]

    with pytest.raises(DefinitionError, match=r"rivals.*names are taken.*already in use"):
        await ensure(client, definition, revision_key=REVISION)
    await client.delete(CUSTOM_RESOURCE_DEFINITIONS, name_of(rival))


async def test_a_definition_that_the_server_refuses_is_an_error_with_its_fields(
    client: Client, gadgets: Resource
) -> None:
    definition = new_definition(gadgets)
    definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["type"] = "thing"

    with pytest.raises(InvalidError, match="Unsupported value"):
        await ensure(client, definition, revision_key=REVISION)
