"""Answers of a member that was not meant are never taken for those of the one that was."""

from __future__ import annotations

import pytest

from etcd_operator.etcd.errors import WrongMemberError
from etcd_operator.etcd.line import Target
from etcd_operator.etcd.pool import Pool
from tests.etcd.dialling import Dial, target_of, tls_of
from tests.etcd.servers import Cluster


async def test_the_member_that_was_meant_answers(single: Cluster, pool: Pool, prefix: bytes) -> None:
    me = (await Dial(pool, single)().status()).header.member_id
    member = Dial(pool, single)(member_id=me)

    await member.put(prefix, b"value")
    await member.defragment()
    async with member.watch(prefix), member.snapshot():
        pass

    assert (await member.range(prefix)).header.member_id == me
    assert len((await member.member_list()).members) == 1


async def test_an_answer_of_another_member_is_an_error(three: Cluster, pool: Pool, prefix: bytes) -> None:
    dial = Dial(pool, three)
    other = (await dial(1).status()).header.member_id
    member = dial(0, member_id=other)

    for call in (member.status(), member.range(prefix), member.member_list(), member.hash(), member.alarms()):
        with pytest.raises(WrongMemberError, match=f"{other:x} was meant"):
            await call


async def test_a_change_meant_for_another_member_is_not_made(three: Cluster, pool: Pool, prefix: bytes) -> None:
    dial = Dial(pool, three)
    other = (await dial(1).status()).header.member_id
    member = dial(0, member_id=other)

    for call in (member.put(prefix, b"value"), member.defragment(), member.member_remove(other)):
        with pytest.raises(WrongMemberError) as error:
            await call
        assert not error.value.done

    assert (await dial(0).range(prefix)).count == 0
    assert len((await dial(0).member_list()).members) == 3


async def test_neither_a_watch_nor_a_snapshot_begins_on_another_member(three: Cluster, pool: Pool) -> None:
    dial = Dial(pool, three)
    member = dial(0, member_id=(await dial(1).status()).header.member_id)

    for stream in (member.watch(b"key"), member.snapshot()):
        with pytest.raises(WrongMemberError):
            async with stream:
                pass


async def test_a_member_of_another_cluster_is_an_error(single: Cluster, pool: Pool) -> None:
    target = target_of(single[0])
    tls = tls_of(single.authority.client()) if single.authority else None
    cluster_id = (await Dial(pool, single)().status()).header.cluster_id

    right = pool.member(Target(target.address, target.authority, cluster_id=cluster_id), tls=tls)
    wrong = pool.member(Target(target.address, target.authority, cluster_id=cluster_id + 1), tls=tls)

    assert (await right.status()).header.cluster_id == cluster_id
    with pytest.raises(WrongMemberError, match="cluster"):
        await wrong.status()
