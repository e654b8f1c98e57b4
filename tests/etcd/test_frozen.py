"""A frozen server keeps its connections open and answers nothing: every call ends at its deadline."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator

import pytest

from etcd_operator.etcd.errors import EtcdError, NoAnswerError, NotReachedError, UnknownOutcomeError
from etcd_operator.etcd.member import Member
from etcd_operator.etcd.pool import Pool
from etcd_operator.etcd.snapshot import Snapshot
from tests.etcd.dialling import Dial
from tests.etcd.expecting import eventually
from tests.etcd.servers import Cluster, cluster

DEADLINE = 0.3
SAFETY = 4.0  # less than the 5 s after which gRPC itself gives up connecting


async def begin_snapshot(member: Member) -> None:
    async with member.snapshot(deadline=DEADLINE) as stream:
        await rest_of(stream)


async def rest_of(stream: Snapshot) -> None:
    async for _ in stream:
        pass


async def begin_watch(member: Member) -> None:
    async with member.watch(b"k", deadline=DEADLINE):
        pass


READS: dict[str, Callable[[Member], Awaitable[object]]] = {
    "status": lambda m: m.status(deadline=DEADLINE),
    "hash": lambda m: m.hash(deadline=DEADLINE),
    "member_list": lambda m: m.member_list(deadline=DEADLINE),
    "alarms": lambda m: m.alarms(deadline=DEADLINE),
    "range": lambda m: m.range(b"k", deadline=DEADLINE),
    "users": lambda m: m.users(deadline=DEADLINE),
    "roles": lambda m: m.roles(deadline=DEADLINE),
    "lease_time_to_live": lambda m: m.lease_time_to_live(1, deadline=DEADLINE),
    "lease_keep_alive": lambda m: m.lease_keep_alive(1, deadline=DEADLINE),
    "snapshot": begin_snapshot,
    "watch": begin_watch,
}
CHANGES: dict[str, Callable[[Member], Awaitable[object]]] = {
    "put": lambda m: m.put(b"k", b"v", deadline=DEADLINE),
    "txn": lambda m: m.txn(deadline=DEADLINE),
    "member_remove": lambda m: m.member_remove(99, deadline=DEADLINE),
    "defragment": lambda m: m.defragment(deadline=DEADLINE),
    "lease_grant": lambda m: m.lease_grant(60, deadline=DEADLINE),
}


@pytest.fixture
def frozen(single: Cluster, request: pytest.FixtureRequest) -> Iterator[Callable[[], None]]:
    """Freezes the server when it is called; the server goes on after the test."""
    yield single[0].freeze
    single[0].thaw()
    single[0].wait_healthy()


async def outcomes(member: Member, calls: dict[str, Callable[[Member], Awaitable[object]]]) -> dict[str, object]:
    began = time.monotonic()
    ended = await asyncio.gather(*(call(member) for call in calls.values()), return_exceptions=True)
    assert DEADLINE * 0.9 < time.monotonic() - began < SAFETY
    return {name: type(outcome) for name, outcome in zip(calls, ended, strict=True)}


async def test_calls_on_an_open_connection_end_at_the_deadline_and_work_again_later(
    single: Cluster, pool: Pool, frozen: Callable[[], None]
) -> None:
    member = Dial(pool, single)()
    version = await member.version()
    frozen()

    assert await outcomes(member, READS) == dict.fromkeys(READS, NoAnswerError)
    assert await outcomes(member, CHANGES) == dict.fromkeys(CHANGES, UnknownOutcomeError)

    single[0].thaw()
    await eventually(lambda: member.put(b"k", b"v"), but=(EtcdError,))
    assert await member.version() == version
    assert len(pool) == 1


async def test_a_connection_that_is_never_taken_ends_at_the_deadline_and_nothing_was_sent(
    single: Cluster, pool: Pool, frozen: Callable[[], None]
) -> None:
    member = Dial(pool, single)()
    frozen()

    assert await outcomes(member, CHANGES) == dict.fromkeys(CHANGES, NotReachedError)

    single[0].thaw()
    await eventually(lambda: member.put(b"k", b"v"), but=(EtcdError,))


async def test_a_change_for_a_known_member_is_not_sent_while_nobody_says_who_is_there(
    single: Cluster, pool: Pool, frozen: Callable[[], None]
) -> None:
    me = (await Dial(pool, single)().status()).header.member_id
    member = Dial(pool, single)(member_id=me)
    before = (await member.put(b"k", b"v")).header.revision
    frozen()

    assert await outcomes(member, CHANGES) == dict.fromkeys(CHANGES, NotReachedError)

    single[0].thaw()
    assert (await eventually(lambda: member.range(b"k"), but=(EtcdError,))).header.revision == before


async def test_a_snapshot_that_stalls_ends(pool: Pool) -> None:
    with cluster("3.6") as made:
        member = Dial(pool, made)()
        for number in range(40):
            await member.put(bytes([number]), bytes(1024 * 1024))

        async with member.snapshot(stall=DEADLINE) as stream:
            await anext(stream)
            made[0].freeze()
            with pytest.raises(NoAnswerError):
                await asyncio.wait_for(rest_of(stream), SAFETY)
        assert stream.received < stream.total


async def test_a_watch_is_told_of_a_server_that_froze(pool: Pool) -> None:
    """By the channel's own pings: a watch has no deadline."""
    with cluster("3.6", tls=True) as made:
        async with Dial(pool, made)().watch(b"k") as watch:
            made[0].freeze()
            with pytest.raises(NoAnswerError):
                await asyncio.wait_for(anext(watch), 60)
