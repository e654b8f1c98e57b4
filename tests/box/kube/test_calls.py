"""Every call of the client against the real API server, and each refusal as the error that it is."""

from __future__ import annotations

import asyncio

import msgspec
import pytest

from etcd_operator.kube.budget import Budget
from etcd_operator.kube.client import Client
from etcd_operator.kube.connection import Connection
from etcd_operator.kube.errors import (
    AlreadyExistsError,
    ApiError,
    ConflictError,
    GoneError,
    InvalidError,
    NotFoundError,
    UnreadableError,
)
from etcd_operator.kube.objects import PartialObject
from etcd_operator.kube.requests import PatchKind
from etcd_operator.kube.resources import CONFIG_MAPS, EVENTS, NAMESPACES, NODES, SERVICES, Resource
from tests.box.driving import Box
from tests.box.kube.notes import event, note
from tests.box.kube.registry import forget_the_past


class Note(PartialObject, frozen=True):
    data: dict[str, str] = msgspec.field(default_factory=dict)


class Wrong(PartialObject, frozen=True):
    data: dict[str, int] = msgspec.field(default_factory=dict)


async def test_what_was_created_can_be_read_and_deleted(client: Client, place: str) -> None:
    made = await client.create(CONFIG_MAPS, note("one", place, word="a"))

    assert (made["apiVersion"], made["kind"]) == ("v1", "ConfigMap")
    found = await client.get(CONFIG_MAPS, "one", namespace=place, into=Note)
    assert found.data == {"word": "a"}
    assert found.metadata.uid == made["metadata"]["uid"]
    await client.delete(CONFIG_MAPS, "one", namespace=place)
    with pytest.raises(NotFoundError, match='configmaps "one" not found') as missing:
        await client.get(CONFIG_MAPS, "one", namespace=place)
    assert missing.value.request == f"GET /api/v1/namespaces/{place}/configmaps/one"


async def test_a_name_that_is_taken_is_an_error_of_its_own(client: Client, place: str) -> None:
    await client.create(CONFIG_MAPS, note("taken", place))

    with pytest.raises(AlreadyExistsError, match='configmaps "taken" already exists'):
        await client.create(CONFIG_MAPS, note("taken", place))


async def test_a_write_based_on_an_old_version_is_a_conflict(client: Client, place: str) -> None:
    first = await client.create(CONFIG_MAPS, note("raced", place, word="a"))
    await client.update(CONFIG_MAPS, {**first, "data": {"word": "b"}})

    with pytest.raises(ConflictError, match="the object has been modified"):
        await client.update(CONFIG_MAPS, {**first, "data": {"word": "c"}})

    assert (await client.get(CONFIG_MAPS, "raced", namespace=place, into=Note)).data == {"word": "b"}


async def test_a_deletion_spares_another_object_of_the_same_name(client: Client, place: str) -> None:
    first = await client.create(CONFIG_MAPS, note("again", place))
    await client.delete(CONFIG_MAPS, "again", namespace=place)
    second = await client.create(CONFIG_MAPS, note("again", place))

    with pytest.raises(ConflictError, match="UID in the precondition"):
        await client.delete(CONFIG_MAPS, "again", namespace=place, uid=first["metadata"]["uid"])
    with pytest.raises(ConflictError, match="ResourceVersion in the precondition"):
        await client.delete(CONFIG_MAPS, "again", namespace=place, resource_version="1")

    await client.delete(CONFIG_MAPS, "again", namespace=place, uid=second["metadata"]["uid"])


async def test_fields_of_another_manager_are_taken_over_only_by_force(client: Client, place: str) -> None:
    await client.apply(CONFIG_MAPS, note("shared", place, word="a", mine="1"), manager="first")

    with pytest.raises(ConflictError, match='conflict with "first"') as refused:
        await client.apply(CONFIG_MAPS, note("shared", place, word="b"), manager="second", force=False)
    assert [(cause.field, cause.reason) for cause in refused.value.causes] == [(".data.word", "FieldManagerConflict")]

    forced = await client.apply(CONFIG_MAPS, note("shared", place, word="b"), manager="second")
    assert forced["data"] == {"word": "b", "mine": "1"}


async def test_an_apply_removes_what_its_manager_no_longer_states_and_nothing_else(client: Client, place: str) -> None:
    await client.apply(CONFIG_MAPS, note("less", place, a="1", b="1"), manager="first")
    await client.apply(CONFIG_MAPS, note("less", place, c="1"), manager="second")

    left = await client.apply(CONFIG_MAPS, note("less", place, a="1"), manager="first", into=Note)

    assert left.data == {"a": "1", "c": "1"}


async def test_each_kind_of_patch_does_what_it_is_called(client: Client, place: str) -> None:
    ports = [{"name": "a", "port": 1}, {"name": "b", "port": 2}]
    metadata = {"name": "patched", "namespace": place, "labels": {"x": "1"}}
    await client.create(SERVICES, {"metadata": metadata, "spec": {"clusterIP": "None", "ports": ports}})

    merged = await client.patch(
        SERVICES, "patched", {"metadata": {"labels": {"x": None, "y": "2"}}}, kind=PatchKind.MERGE, namespace=place
    )
    assert merged["metadata"]["labels"] == {"y": "2"}

    more = {"spec": {"ports": [{"name": "c", "port": 3}]}}
    strategic = await client.patch(SERVICES, "patched", more, kind=PatchKind.STRATEGIC, namespace=place)
    assert sorted(port["port"] for port in strategic["spec"]["ports"]) == [1, 2, 3]

    exact = [{"op": "replace", "path": "/metadata/labels/y", "value": "3"}]
    changed = await client.patch(SERVICES, "patched", exact, kind=PatchKind.JSON, namespace=place, into=PartialObject)
    assert changed.metadata.labels == {"y": "3"}


async def test_what_is_invalid_is_said_field_by_field(client: Client, place: str) -> None:
    ports = [{"port": 0}, {"port": 70000, "name": "a"}]

    with pytest.raises(InvalidError, match=r"Service .* is invalid") as refused:
        await client.create(SERVICES, {"metadata": {"name": "bad", "namespace": place}, "spec": {"ports": ports}})

    fields = {cause.field: cause.message for cause in refused.value.causes}
    assert "must be between 1 and 65535" in fields["spec.ports[1].port"]
    assert refused.value.status == 422


async def test_a_list_comes_whole_however_many_pages_it_takes(client: Client, place: str) -> None:
    for number in range(7):
        await client.create(
            CONFIG_MAPS, {**note(f"page-{number}", place), "metadata": labelled(f"page-{number}", place)}
        )

    listing = await client.list(CONFIG_MAPS, namespace=place, selector="of=pages", page=3, into=PartialObject)
    pages = [page.items async for page in client.pages(CONFIG_MAPS, namespace=place, selector="of=pages", page=3)]

    assert [found.metadata.name for found in listing.items] == [f"page-{number}" for number in range(7)]
    assert listing.resource_version
    assert [len(items) for items in pages] == [3, 3, 1]


def labelled(name: str, namespace: str) -> dict[str, object]:
    return {"name": name, "namespace": namespace, "labels": {"of": "pages"}}


async def test_lists_can_be_narrowed_by_labels_and_fields(client: Client, place: str) -> None:
    for name in ("x", "y"):
        await client.create(CONFIG_MAPS, note(name, place))

    async def names(**which: str) -> list[str]:
        found = await client.list(CONFIG_MAPS, namespace=place, into=PartialObject, **which)  # type: ignore[arg-type]
        return [one.metadata.name for one in found.items]

    assert await names(selector="of in (x, y)") == ["x", "y"]
    assert await names(selector="of in (x, y),of!=x") == ["y"]
    assert await names(field_selector="metadata.name=x") == ["x"]


async def test_kinds_without_a_namespace_and_lists_over_all_namespaces(client: Client, place: str) -> None:
    await client.create(CONFIG_MAPS, note("somewhere", place))

    assert (await client.get(NAMESPACES, place, into=PartialObject)).metadata.name == place
    assert (await client.list(NODES)).items
    everywhere = await client.list(CONFIG_MAPS, selector="of=somewhere", into=PartialObject)
    assert [found.metadata.namespace for found in everywhere.items] == [place]


async def test_a_page_that_is_no_longer_kept_is_gone(box: Box, client: Client, place: str) -> None:
    for number in range(3):
        await client.create(EVENTS, event(f"kept-{number}", place))
    pages = client.pages(EVENTS, namespace=place, page=2)
    await anext(pages)
    await client.create(EVENTS, event("kept-later", place))

    await asyncio.to_thread(forget_the_past, box)

    with pytest.raises(GoneError, match="continue parameter is too old"):
        await anext(pages)


async def test_a_list_that_is_outdated_half_way_starts_over(box: Box, connection: Connection, place: str) -> None:
    slow = Budget(per_second=2, burst=1)
    async with (
        Client(connection, user_agent="tests", budget=slow) as reader,
        Client(connection, user_agent="tests") as writer,
    ):
        for number in range(6):
            await writer.create(EVENTS, event(f"slow-{number}", place))
        reading = asyncio.create_task(reader.list(EVENTS, namespace=place, page=2, into=PartialObject))
        await asyncio.sleep(0.1)
        await writer.create(EVENTS, event("slow-later", place))
        await asyncio.to_thread(forget_the_past, box)

        assert "slow-later" in [found.metadata.name for found in (await reading).items]


async def test_an_answer_of_another_shape_says_which_object_and_what_is_wrong(client: Client, place: str) -> None:
    await client.create(CONFIG_MAPS, note("odd", place, word="a"))

    with pytest.raises(UnreadableError, match=rf"{place}/odd is not a Wrong: Expected `int`, got `str`.*data"):
        await client.get(CONFIG_MAPS, "odd", namespace=place, into=Wrong)
    with pytest.raises(UnreadableError, match=rf"{place}/odd is not a Wrong"):
        await client.list(CONFIG_MAPS, namespace=place, selector="of=odd", into=Wrong)


async def test_objects_can_be_had_undecoded(client: Client, place: str) -> None:
    await client.create(CONFIG_MAPS, note("raw", place, word="a"))

    listing = await client.list(CONFIG_MAPS, namespace=place, selector="of=raw", into=msgspec.Raw)

    assert msgspec.json.decode(listing.items[0])["data"] == {"word": "a"}


async def test_a_kind_that_the_server_does_not_have_is_not_found(client: Client) -> None:
    nothing = Resource(group="nothing.example.com", version="v1", plural="nothings", kind="Nothing")

    with pytest.raises(NotFoundError, match="404 page not found"):
        await client.list(nothing)


async def test_a_request_that_makes_no_sense_keeps_the_servers_words(client: Client, place: str) -> None:
    with pytest.raises(ApiError, match="cannot unmarshal number") as refused:
        await client.create(CONFIG_MAPS, {**note("nonsense", place), "data": 5})
    assert (refused.value.status, refused.value.reason) == (400, "BadRequest")
