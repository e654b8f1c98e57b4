"""When the API server, or the way to it, fails: calls end by their deadline, and nothing is done twice."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import aclosing, asynccontextmanager, contextmanager
from dataclasses import replace
from urllib.parse import urlsplit

import pytest

from etcd_operator.kube.client import Client
from etcd_operator.kube.connection import Connection
from etcd_operator.kube.errors import (
    DeadlineExceededError,
    GoneError,
    NotFoundError,
    ServerError,
    UnreachableError,
)
from etcd_operator.kube.objects import PartialObject
from etcd_operator.kube.resources import CONFIG_MAPS, EVENTS, NAMESPACES
from etcd_operator.kube.watch import Change, ChangeKind
from tests.box.driving import Box, eventually
from tests.box.kube.notes import event, note
from tests.box.kube.registry import forget_the_past
from tests.etcd.relay import Relay, relay_to


@contextmanager
def frozen(box: Box) -> Iterator[None]:
    box("pause", "apiserver")
    try:
        yield
    finally:
        box("resume", "apiserver")
        eventually(box.api.ready, within=60)


@asynccontextmanager
async def behind_a_relay(connection: Connection) -> AsyncIterator[tuple[Client, Relay]]:
    """A client whose way to the API server can be broken."""
    async with (
        relay_to(urlsplit(connection.server).netloc) as relay,
        Client(replace(connection, server=f"https://{relay.address}"), user_agent="tests") as client,
    ):
        yield client, relay


async def collect(client: Client, place: str, since: str, seen: list[Change[PartialObject]], silence: float) -> None:
    changes = client.watch(
        CONFIG_MAPS, namespace=place, resource_version=since, timeout_seconds=60, silence=silence, into=PartialObject
    )
    async with aclosing(changes):
        async for change in changes:
            seen.append(change)  # noqa: PERF401 - as it comes: the list is looked at meanwhile


async def until(claim: Callable[[], object]) -> None:
    await asyncio.to_thread(eventually, claim, within=20, pause=0.02)


async def version(client: Client, place: str) -> str:
    return (await client.list(CONFIG_MAPS, namespace=place, into=PartialObject)).resource_version


async def test_a_frozen_server_ends_each_call_at_its_deadline(box: Box, client: Client, place: str) -> None:
    await client.get(NAMESPACES, place)
    with frozen(box):
        for call in (
            client.get(NAMESPACES, place, deadline=1.0),
            client.create(CONFIG_MAPS, note("frozen", place), deadline=1.0),
            client.list(NAMESPACES, deadline=1.0),
        ):
            begin = time.monotonic()
            with pytest.raises(DeadlineExceededError, match=r"no answer from .* within 1 s"):
                await call
            assert 0.9 < time.monotonic() - begin < 10

    assert await client.get(NAMESPACES, place)


async def test_a_watch_of_a_frozen_server_ends_after_the_silence_it_was_given(
    box: Box, client: Client, place: str
) -> None:
    since, seen = await version(client, place), list[Change[PartialObject]]()
    watching = asyncio.create_task(collect(client, place, since, seen, silence=3.0))
    await client.create(CONFIG_MAPS, note("before", place))
    await until(lambda: seen)

    with frozen(box), pytest.raises(UnreachableError, match=r"nothing came from .* for 3 s"):
        await watching


async def test_a_restarted_server_cuts_watches_and_is_found_again(box: Box, client: Client, place: str) -> None:
    since, seen = await version(client, place), list[Change[PartialObject]]()
    watching = asyncio.create_task(collect(client, place, since, seen, silence=60.0))
    await client.create(CONFIG_MAPS, note("cut", place))
    await until(lambda: seen)

    await asyncio.to_thread(box, "restart", "apiserver")

    await refused(client, place)
    async with asyncio.timeout(60):
        how_it_ended = (await asyncio.gather(watching, return_exceptions=True))[0]
    assert how_it_ended is None or isinstance(how_it_ended, UnreachableError | ServerError)
    await asyncio.to_thread(eventually, box.api.ready, within=60)
    assert await client.get(CONFIG_MAPS, "cut", namespace=place)
    since, later = await version(client, place), list[Change[PartialObject]]()
    again = asyncio.create_task(collect(client, place, since, later, silence=60.0))
    await client.create(CONFIG_MAPS, note("after", place))
    await until(lambda: [change.object.metadata.name for change in later] == ["after"])
    again.cancel()


async def refused(client: Client, place: str) -> None:
    """Asks until there is nobody to ask."""
    async with asyncio.timeout(60):
        while True:
            try:
                await client.get(NAMESPACES, place, deadline=2.0)
            except UnreachableError:
                return
            except ServerError:
                continue


async def test_a_watch_cut_in_the_middle_is_an_error_and_not_an_end(connection: Connection, place: str) -> None:
    async with behind_a_relay(connection) as (client, relay):
        since, seen = await version(client, place), list[Change[PartialObject]]()
        watching = asyncio.create_task(collect(client, place, since, seen, silence=60.0))
        await client.create(CONFIG_MAPS, note("middle", place))
        await until(lambda: seen)

        relay.cut()

        with pytest.raises(UnreachableError, match="broke"):
            await watching


async def test_a_lost_answer_to_a_mutation_is_an_error_and_the_mutation_is_not_repeated(
    connection: Connection, place: str
) -> None:
    async with behind_a_relay(connection) as (client, relay), Client(connection, user_agent="tests") as direct:
        made = await client.create(CONFIG_MAPS, note("lost", place))
        relay.cut_after(0)

        with pytest.raises(UnreachableError, match="broke") as lost:
            await client.delete(CONFIG_MAPS, "lost", namespace=place, uid=made["metadata"]["uid"])

        assert lost.value.sent
        assert relay.connections == 1
        with pytest.raises(NotFoundError):
            await direct.get(CONFIG_MAPS, "lost", namespace=place)


async def test_nobody_there_is_told_from_a_lost_answer(connection: Connection) -> None:
    async with Client(replace(connection, server="https://127.0.0.1:1"), user_agent="tests") as client:
        with pytest.raises(UnreachableError, match="cannot be reached: Connect call failed") as refused:
            await client.get(NAMESPACES, "default")
        assert not refused.value.sent

    async with Client(replace(connection, server="https://nowhere.invalid"), user_agent="tests") as client:
        with pytest.raises(UnreachableError, match=r"nowhere\.invalid cannot be reached"):
            await client.get(NAMESPACES, "default")


async def test_a_version_that_is_no_longer_kept_ends_a_watch_as_gone(box: Box, client: Client, place: str) -> None:
    first = await client.create(EVENTS, event("first", place), into=PartialObject)
    for later in ("second", "third"):
        await client.create(EVENTS, event(later, place))
    await asyncio.to_thread(forget_the_past, box)

    with pytest.raises(GoneError, match="too old") as gone:
        async for _ in client.watch(
            EVENTS,
            namespace=place,
            resource_version=first.metadata.resource_version,
            timeout_seconds=5,
            silence=10,
        ):
            pass
    assert gone.value.status == 410


async def test_a_watch_sees_each_change_once_and_ends_in_good_order(client: Client, place: str) -> None:
    since, seen = await version(client, place), list[tuple[ChangeKind, str]]()
    changes = client.watch(
        CONFIG_MAPS,
        namespace=place,
        resource_version=since,
        timeout_seconds=2,
        silence=10,
        selector="of=watched",
        into=PartialObject,
    )
    await client.create(CONFIG_MAPS, note("watched", place, big="x" * 1_000_000))
    await client.create(CONFIG_MAPS, note("ignored", place))
    await client.apply(CONFIG_MAPS, note("watched", place, more="y" * 40_000), manager="tests")
    await client.delete(CONFIG_MAPS, "watched", namespace=place)
    seen = [(change.kind, change.object.metadata.name) async for change in changes]

    assert [entry for entry in seen if entry[0] is not ChangeKind.BOOKMARK] == [
        (ChangeKind.ADDED, "watched"),
        (ChangeKind.MODIFIED, "watched"),
        (ChangeKind.DELETED, "watched"),
    ]
