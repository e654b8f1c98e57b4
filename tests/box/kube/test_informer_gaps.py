"""Watches that break in every way there is, on a real API server: nothing that happened meanwhile is missed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from etcd_operator.kube.client import Client
from etcd_operator.kube.connection import Connection
from etcd_operator.kube.informer import Patience
from etcd_operator.kube.requests import PatchKind, Selection
from etcd_operator.kube.resources import CONFIG_MAPS, EVENTS
from etcd_operator.kube.store import Key
from tests.box.driving import Box, eventually
from tests.box.kube.notes import event, note
from tests.box.kube.registry import forget_the_past
from tests.box.kube.relay import Relay, relayed
from tests.box.kube.watching import HASTY, names, shown, watching


@pytest.fixture
async def relay(connection: Connection) -> AsyncIterator[Relay]:
    async with relayed(connection) as made:
        yield made


@pytest.fixture
async def fragile(relay: Relay) -> AsyncIterator[Client]:
    """A client whose connections the test can break; `client` is one that they cannot."""
    async with Client(relay.connection, user_agent="etcd-operator/test (fragile)") as made:
        yield made


@asynccontextmanager
async def frozen(box: Box, component: str) -> AsyncIterator[None]:
    await asyncio.to_thread(box, "pause", component)
    try:
        yield
    finally:
        await asyncio.to_thread(box, "resume", component)
        await asyncio.to_thread(eventually, box.api.ready, within=60)


async def restart_api_server(box: Box) -> None:
    await asyncio.to_thread(box, "restart", "apiserver")
    await asyncio.to_thread(eventually, lambda: not box.api.ready(), within=20, pause=0.01)
    await asyncio.to_thread(eventually, box.api.ready, within=60)


async def test_a_deletion_during_a_gap_is_seen_after_410(
    box: Box, client: Client, fragile: Client, relay: Relay, place: str
) -> None:
    """Events, because their versions are forgotten by the API server as soon as its etcd has forgotten them."""
    for name in ("stays", "goes", "is-replaced"):
        await client.create(EVENTS, event(name, place))
    async with watching(fragile, Selection(EVENTS, namespace=place)) as (informer, told):
        before = set(told.signs)
        assert {"+stays", "+goes", "+is-replaced"} <= before
        relay.cut()
        await client.delete(EVENTS, "goes", namespace=place)
        await client.delete(EVENTS, "is-replaced", namespace=place)
        await client.create(EVENTS, event("is-replaced", place))
        await client.create(EVENTS, event("comes", place))
        await asyncio.to_thread(forget_the_past, box)
        relay.mend()

        await shown(informer, lambda: "+comes" in told.signs)
        await shown(informer, lambda: "-goes" in told.signs)
        assert informer.listed == 2, "the past was gone, so it had to list again"
        assert [sign for sign in told.signs if sign.endswith("is-replaced")] == [
            "+is-replaced",
            "-is-replaced",
            "+is-replaced",
        ]
        await client.create(EVENTS, event("and-on", place))
        await shown(informer, lambda: "+and-on" in told.signs)
        assert informer.listed == 2


async def test_a_watch_cut_in_the_middle_misses_no_change(
    client: Client, fragile: Client, relay: Relay, namespace: str
) -> None:
    await client.create(CONFIG_MAPS, note("busy", namespace))
    async with watching(fragile, Selection(CONFIG_MAPS, namespace=namespace)) as (informer, told):

        async def change() -> None:
            for number in range(200):
                patch = {"data": {"number": str(number), "filler": "x" * 10_000}}
                await client.patch(CONFIG_MAPS, "busy", patch, kind=PatchKind.MERGE, namespace=namespace)

        changing = asyncio.create_task(change())
        cuts = 0
        while not changing.done():
            await asyncio.sleep(0.15)
            relay.cut_once()
            cuts += 1
        await changing
        await shown(informer, lambda: _data(informer.store.get(Key(namespace, "busy")), "number") == "199")
        assert cuts >= 2
        assert told.signs.count("~busy") == 200, "each change came, and none of them twice"
        assert informer.listed == 1, "going on from the last version was enough"


async def test_a_connection_that_died_in_silence_is_noticed(
    client: Client, fragile: Client, relay: Relay, namespace: str
) -> None:
    patience = Patience(silence=2.0, backoff=HASTY.backoff)
    selection = Selection(CONFIG_MAPS, namespace=namespace)
    async with watching(fragile, selection, patience=patience) as (informer, told):
        await asyncio.sleep(0.5)
        relay.freeze()
        await client.create(CONFIG_MAPS, note("unheard", namespace))
        await shown(informer, lambda: names(informer) == {"unheard"})
        assert informer.listed == 1
        assert "+unheard" in told.signs


async def test_a_frozen_api_server_is_outlasted(box: Box, client: Client, namespace: str) -> None:
    patience = Patience(silence=2.0, backoff=HASTY.backoff)
    async with watching(client, Selection(CONFIG_MAPS, namespace=namespace), patience=patience) as (informer, _):
        async with frozen(box, "apiserver"):
            async with asyncio.timeout(30):
                while informer.trouble is None:  # noqa: ASYNC110 - nothing tells of trouble
                    await asyncio.sleep(0.1)
        await client.create(CONFIG_MAPS, note("after", namespace), deadline=30.0)
        await shown(informer, lambda: names(informer) == {"after"})


async def test_a_restart_of_the_api_server_is_outlasted_by_all_informers(
    box: Box, client: Client, namespace: str
) -> None:
    first = Selection(CONFIG_MAPS, namespace=namespace)
    everywhere = Selection(CONFIG_MAPS)
    async with watching(client, first) as (informer, told), watching(client, everywhere) as (other, _):
        await client.create(CONFIG_MAPS, note("before", namespace))
        await client.create(CONFIG_MAPS, note("goes", namespace))
        await shown(informer, lambda: names(informer) == {"before", "goes"})
        await restart_api_server(box)
        await client.create(CONFIG_MAPS, note("after", namespace), deadline=30.0)
        await client.delete(CONFIG_MAPS, "goes", namespace=namespace)
        for one in (informer, other):
            await shown(one, lambda one=one: {"before", "after"} <= names(one) and "goes" not in names(one))  # type: ignore[misc]
        assert [sign for sign in told.signs if sign.endswith("before")] == ["+before"]


async def test_an_object_that_leaves_the_selection_is_gone_and_comes_back_with_it(
    client: Client, namespace: str
) -> None:
    await client.create(CONFIG_MAPS, note("other", namespace))
    await client.create(CONFIG_MAPS, note("chosen", namespace))
    selection = Selection(CONFIG_MAPS, namespace=namespace, labels="of=chosen")
    async with watching(client, selection) as (informer, told):
        for value in ("nobody", "chosen"):
            patch = {"metadata": {"labels": {"of": value}}}
            await client.patch(CONFIG_MAPS, "chosen", patch, kind=PatchKind.MERGE, namespace=namespace)
        await shown(informer, lambda: len(told.signs) == 3)
        assert told.signs == ["+chosen", "-chosen", "+chosen"]
    by_field = Selection(CONFIG_MAPS, namespace=namespace, fields="metadata.name=other")
    async with watching(client, by_field) as (informer, _):
        assert names(informer) == {"other"}


def _data(found: object, key: str) -> str | None:
    return getattr(found, "data", {}).get(key)
