"""The pool: few channels for many members, and none taken from under a call."""

from __future__ import annotations

import asyncio

import pytest

from etcd_operator.etcd.errors import EtcdError, NotReachedError, UnknownOutcomeError
from etcd_operator.etcd.line import Target
from etcd_operator.etcd.pool import Pool
from tests.etcd.dialling import Dial, target_of, tls_of
from tests.etcd.expecting import eventually
from tests.etcd.relay import relay_to
from tests.etcd.servers import Cluster, cluster


async def test_calls_to_a_member_share_one_connection(single: Cluster, pool: Pool) -> None:
    tls = tls_of(single.authority.client()) if single.authority else None
    async with relay_to(single[0].client) as relay:
        target = Target(relay.address, single[0].authority)
        await asyncio.gather(*(pool.member(target, tls=tls).status() for _ in range(20)))

        assert relay.connections == 1
    assert len(pool) == 1


async def test_the_least_recently_used_channel_makes_room(three: Cluster) -> None:
    async with Pool(limit=2) as pool:
        dial = Dial(pool, three)
        for index in (0, 1, 0, 2, 0, 1, 2, 1, 0):
            await dial(index).status()
            assert len(pool) <= 2


async def test_a_channel_in_use_stays_and_the_next_caller_waits_for_room(three: Cluster, prefix: bytes) -> None:
    async with Pool(limit=1) as pool:
        dial = Dial(pool, three)
        async with dial(0).watch(prefix) as watch:
            with pytest.raises(NotReachedError, match="stayed in use"):
                await dial(1).status(deadline=0.3)
            await dial(0).put(prefix, b"value")
            assert (await anext(watch)).events[0].item.value == b"value"
            waiting = asyncio.create_task(dial(1).status(deadline=30))
            await asyncio.sleep(0)
            assert not waiting.done()

        assert (await waiting).header.member_id


async def test_many_callers_of_more_members_than_channels_all_get_their_answer(three: Cluster) -> None:
    async with Pool(limit=2) as pool:
        dial = Dial(pool, three)
        statuses = await asyncio.gather(*(dial(number % 3).status(deadline=30) for number in range(60)))

        assert len({status.header.member_id for status in statuses}) == 3
        assert len(pool) <= 2


async def test_a_closed_pool_reaches_nobody(three: Cluster) -> None:
    async with Pool() as pool:
        member = Dial(pool, three)()
        await member.status()

    assert len(pool) == 0
    with pytest.raises(NotReachedError, match="closed"):
        await member.status()


async def test_a_pool_that_is_closed_under_a_change_leaves_it_unknown(prefix: bytes) -> None:
    with cluster("3.6") as made:
        async with relay_to(made[0].client) as relay:
            pool = Pool()
            member = pool.member(Target(relay.address))
            await member.status()
            relay.swallow_answers()
            put = asyncio.create_task(member.put(prefix, b"value", deadline=30))
            await asyncio.sleep(0.1)
            await pool.close()

            with pytest.raises(UnknownOutcomeError):
                await put


async def test_a_member_that_was_down_is_reached_soon_after_it_is_back(pool: Pool) -> None:
    with cluster("3.6") as made:
        member = pool.member(target_of(made[0]))
        await member.status()
        made[0].kill()
        for _ in range(5):
            with pytest.raises(EtcdError):
                await member.status()
        made[0].start()
        made[0].wait_healthy()

        assert (await eventually(member.status, but=(NotReachedError,), within=5)).leads
