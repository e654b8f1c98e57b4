"""Keys and leases, in every version, in plain text and with mutual TLS."""

from __future__ import annotations

import pytest

from etcd_operator.etcd.errors import Reason, RefusedError
from etcd_operator.etcd.keys import (
    EVERYTHING,
    Condition,
    Delete,
    Deleted,
    Found,
    Get,
    Operation,
    Put,
    Relation,
    Subject,
    Written,
    prefix_end,
)
from etcd_operator.etcd.member import Member
from etcd_operator.etcd.pool import Pool
from etcd_operator.releases.capabilities import Capability, can
from tests.etcd.dialling import Dial
from tests.etcd.expecting import eventually
from tests.etcd.servers import Cluster, cluster


@pytest.fixture
def member(single: Cluster, pool: Pool) -> Member:
    return Dial(pool, single)()


async def test_a_value_is_read_back_with_its_history(member: Member, prefix: bytes) -> None:
    first = await member.put(prefix, b"one")
    second = await member.put(prefix, b"two", previous=True)

    found = await member.range(prefix)

    assert first.previous is None
    assert second.previous
    assert second.previous.value == b"one"
    assert [(item.key, item.value, item.version) for item in found.items] == [(prefix, b"two", 2)]
    assert found.items[0].create_revision == first.header.revision
    assert found.items[0].mod_revision == second.header.revision == found.header.revision
    assert found.count == 1
    assert not found.more


async def test_a_prefix_is_read_in_pages(member: Member, prefix: bytes) -> None:
    for letter in b"abcde":
        await member.put(prefix + bytes([letter]), b"")

    page = await member.range(prefix, range_end=prefix_end(prefix), limit=2, keys_only=True)
    rest = await member.range(page.items[-1].key + b"\0", range_end=prefix_end(prefix))

    assert [item.key[-1:] for item in page.items] == [b"a", b"b"]
    assert page.more
    assert page.count == 5
    assert [item.key[-1:] for item in rest.items] == [b"c", b"d", b"e"]
    assert not rest.more


async def test_an_old_revision_is_read_as_it_was(member: Member, prefix: bytes) -> None:
    old = (await member.put(prefix, b"old")).header.revision
    await member.put(prefix, b"new")

    assert (await member.range(prefix, revision=old)).items[0].value == b"old"
    assert (await member.range(prefix, serializable=True)).items[0].value == b"new"
    assert (await member.range(prefix, count_only=True)).items == ()


async def test_everything_is_counted(member: Member, prefix: bytes) -> None:
    key, end = EVERYTHING
    before = (await member.range(key, range_end=end, count_only=True)).count
    await member.put(prefix, b"one more")

    assert (await member.range(key, range_end=end, count_only=True)).count == before + 1


async def test_what_is_deleted_is_given_back_and_gone(member: Member, prefix: bytes) -> None:
    await member.put(prefix + b"a", b"1")
    await member.put(prefix + b"b", b"2")

    deleted = await member.delete(prefix, range_end=prefix_end(prefix), previous=True)

    assert deleted.count == 2
    assert [item.value for item in deleted.previous] == [b"1", b"2"]
    assert (await member.range(prefix, range_end=prefix_end(prefix))).items == ()
    assert (await member.delete(prefix)).count == 0


CONDITIONS = (
    (Subject.VALUE, Relation.EQUAL, b"value", True),
    (Subject.VALUE, Relation.NOT_EQUAL, b"value", False),
    (Subject.VALUE, Relation.GREATER, b"valud", True),
    (Subject.VERSION, Relation.EQUAL, 2, True),
    (Subject.VERSION, Relation.LESS, 2, False),
    (Subject.CREATE_REVISION, Relation.GREATER, 1, True),
    (Subject.MOD_REVISION, Relation.EQUAL, 1, False),
)


async def test_a_transaction_takes_the_branch_of_its_conditions(member: Member, prefix: bytes) -> None:
    await member.put(prefix, b"first")
    await member.put(prefix, b"value")

    taken = [
        (await member.txn([Condition(prefix, subject, relation, operand)])).succeeded
        for subject, relation, operand, _ in CONDITIONS
    ]

    assert taken == [expected for *_, expected in CONDITIONS]


async def test_a_transaction_gives_an_answer_for_each_of_its_operations(member: Member, prefix: bytes) -> None:
    absent = Condition(prefix, Subject.VERSION, Relation.EQUAL, 0)
    then: list[Operation] = [Put(prefix, b"made"), Get(prefix)]
    otherwise: list[Operation] = [Delete(prefix, previous=True)]

    made = await member.txn([absent], then=then, otherwise=otherwise)
    unmade = await member.txn([absent], then=then, otherwise=otherwise)

    written, found = made.answers
    (deleted,) = unmade.answers
    assert made.succeeded
    assert isinstance(written, Written)
    assert isinstance(found, Found)
    assert found.items[0].value == b"made"
    assert not unmade.succeeded
    assert isinstance(deleted, Deleted)
    assert [item.value for item in deleted.previous] == [b"made"]


async def test_a_lease_takes_its_keys_with_it(member: Member, prefix: bytes) -> None:
    lease = await member.lease_grant(60)
    await member.put(prefix, b"leased", lease=lease.id)
    life = await member.lease_time_to_live(lease.id, keys=True)
    assert (life.id, life.granted_ttl, life.keys) == (lease.id, 60, (prefix,))
    assert 0 < life.ttl <= 60
    assert (await member.range(prefix)).items[0].lease == lease.id
    if can(await member.version(), Capability.LEASE_LIST):
        assert lease.id in await member.leases()

    await member.lease_revoke(lease.id)

    assert (await member.range(prefix)).count == 0
    with pytest.raises(RefusedError) as refusal:
        await member.lease_time_to_live(lease.id)
    assert refusal.value.reason is Reason.LEASE_NOT_FOUND


async def test_a_lease_is_renewed(member: Member) -> None:
    lease = await member.lease_grant(60, lease_id=4711)

    renewed = await member.lease_keep_alive(lease.id)

    assert (lease.id, lease.ttl) == (renewed.id, renewed.ttl) == (4711, 60)
    await member.lease_revoke(lease.id)


async def test_a_large_answer_comes_through(member: Member, prefix: bytes) -> None:
    """More than gRPC's own limit of 4 MiB."""
    for number in range(6):
        await member.put(prefix + bytes([number]), bytes(1024 * 1024))

    found = await member.range(prefix, range_end=prefix_end(prefix), deadline=8)

    assert sum(len(item.value) for item in found.items) == 6 * 1024 * 1024
    await member.delete(prefix, range_end=prefix_end(prefix))


async def test_a_renewed_lease_begins_anew_and_one_that_nobody_renews_ends(pool: Pool) -> None:
    """In one version only: it takes seconds, and they are the server's."""
    with cluster("3.6") as made:
        member = Dial(pool, made)()
        lease = await member.lease_grant(3)
        await member.put(b"leased", b"", lease=lease.id)

        async def seconds_left() -> int:
            return (await member.lease_time_to_live(lease.id)).ttl

        async def keys() -> int:
            return (await member.range(b"leased")).count

        await eventually(seconds_left, until=lambda seconds: seconds <= 1)
        await member.lease_keep_alive(lease.id)
        assert await seconds_left() >= 2
        await eventually(keys, until=lambda count: count == 0)
