"""Watches: every change once and in order, or an error that says where to begin again."""

from __future__ import annotations

import asyncio

import pytest

from etcd_operator.etcd.errors import CompactedError, NoAnswerError, Reason
from etcd_operator.etcd.keys import Put, prefix_end
from etcd_operator.etcd.member import Member
from etcd_operator.etcd.pool import Pool
from etcd_operator.etcd.watch import Change, Events, Watch
from tests.etcd.dialling import Dial
from tests.etcd.servers import Cluster, cluster

PATIENCE = 20.0


@pytest.fixture
def member(single: Cluster, pool: Pool) -> Member:
    return Dial(pool, single)()


async def next_of(watch: Watch) -> Events:
    async with asyncio.timeout(PATIENCE):
        return await anext(watch)


async def test_changes_come_in_order(member: Member, prefix: bytes) -> None:
    async with member.watch(prefix, previous=True) as watch:
        await member.put(prefix, b"1")
        await member.put(prefix, b"2")
        await member.delete(prefix)

        seen = [event for _ in range(3) for event in (await next_of(watch)).events]

    assert [event.change for event in seen] == [Change.PUT, Change.PUT, Change.DELETE]
    assert [event.item.value for event in seen] == [b"1", b"2", b""]
    assert [event.previous.value if event.previous else None for event in seen] == [None, b"1", b"2"]


async def test_what_was_missed_is_told_from_a_revision_on(member: Member, prefix: bytes) -> None:
    first = (await member.put(prefix + b"a", b"1")).header.revision
    await member.put(prefix + b"b", b"2")

    async with member.watch(prefix, range_end=prefix_end(prefix), start_revision=first) as watch:
        events = (await next_of(watch)).events

    assert [event.item.value for event in events] == [b"1", b"2"]


async def test_a_transaction_is_seen_as_one(member: Member, prefix: bytes) -> None:
    async with member.watch(prefix, range_end=prefix_end(prefix)) as watch:
        await member.txn(then=[Put(prefix + b"a", b""), Put(prefix + b"b", b"")])

        together = await next_of(watch)

    assert len(together.events) == 2
    assert len({event.item.mod_revision for event in together.events}) == 1


async def test_a_watch_begins_with_the_revision_it_begins_at(member: Member, prefix: bytes) -> None:
    revision = (await member.put(prefix, b"")).header.revision

    async with member.watch(prefix) as watch:
        assert watch.header
        assert watch.header.revision == revision


async def test_a_compacted_beginning_is_an_error_that_names_the_oldest_revision(member: Member, prefix: bytes) -> None:
    await member.put(prefix, b"old")
    newest = (await member.put(prefix, b"new")).header.revision
    await member.compact(newest)

    with pytest.raises(CompactedError) as error:
        async with member.watch(prefix, start_revision=1) as watch:
            await next_of(watch)

    assert error.value.compact_revision == newest
    assert error.value.reason is Reason.COMPACTED


async def test_many_watches_share_a_channel(member: Member, pool: Pool, prefix: bytes) -> None:
    async with member.watch(prefix + b"a") as one, member.watch(prefix + b"b") as other:
        await member.put(prefix + b"b", b"for the other")
        await member.put(prefix + b"a", b"for the one")

        assert (await next_of(one)).events[0].item.value == b"for the one"
        assert (await next_of(other)).events[0].item.value == b"for the other"
        assert len(pool) == 1


async def test_a_silent_watch_gives_signs_of_life_when_asked_to(pool: Pool) -> None:
    with cluster("3.6", extra=("--watch-progress-notify-interval=200ms",)) as made:
        member = Dial(pool, made)()
        revision = (await member.put(b"elsewhere", b"")).header.revision
        async with member.watch(b"key", progress=True) as watch:
            sign = await next_of(watch)

    assert sign.events == ()
    assert sign.header.revision == revision


async def test_a_watch_ends_with_its_server(pool: Pool) -> None:
    with cluster("3.6") as made:
        async with Dial(pool, made)().watch(b"key") as watch:
            made[0].kill()
            with pytest.raises(NoAnswerError):
                await next_of(watch)
