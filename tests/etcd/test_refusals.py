"""Each refusal that a member of one gives, in every version: the same reason, whatever the code and the words."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import pytest

from etcd_operator.etcd.errors import Reason, RefusedError, UnknownOutcomeError
from etcd_operator.etcd.keys import Put
from etcd_operator.etcd.member import Member
from etcd_operator.etcd.pool import Pool
from etcd_operator.etcd.results import Access, Permission
from etcd_operator.releases.capabilities import Capability, can
from etcd_operator.releases.version import Version
from tests.etcd.dialling import Dial, target_of
from tests.etcd.servers import Cluster, release

STRANGER = 99  # an ID that nobody has
FAR = 10**9  # a revision that nobody has reached
KIB = 1024
MIB = 1024 * KIB


@dataclass(frozen=True)
class Row:
    call: Callable[[Member], Awaitable[object]]
    reason: Reason
    needs: Capability | None = None


async def with_compacted_history(member: Member) -> int:
    """The revision that was compacted last."""
    await member.put(b"history", b"old")
    revision = (await member.put(b"history", b"new")).header.revision
    await member.compact(revision)
    return revision


async def compacted_range(member: Member) -> object:
    return await member.range(b"history", revision=await with_compacted_history(member) - 1)


async def compacted_twice(member: Member) -> object:
    return await member.compact(await with_compacted_history(member))


async def compacted_hash(member: Member) -> object:
    return await member.hash_kv(await with_compacted_history(member) - 1)


async def lease_of_the_same_id(member: Member) -> object:
    lease = await member.lease_grant(60)
    try:
        return await member.lease_grant(60, lease_id=lease.id)
    finally:
        await member.lease_revoke(lease.id)


async def own_peer_url(member: Member) -> object:
    listed = await member.member_list()
    return await member.member_add(listed.members[0].peer_urls)


async def promotion_of_a_voter(member: Member) -> object:
    return await member.member_promote((await member.status()).header.member_id)


ROWS: dict[str, Row] = {
    "range of a compacted revision": Row(compacted_range, Reason.COMPACTED),
    "range of a future revision": Row(lambda m: m.range(b"k", revision=FAR), Reason.FUTURE_REVISION),
    "range of an empty key": Row(lambda m: m.range(b""), Reason.EMPTY_KEY),
    "compaction of what is compacted": Row(compacted_twice, Reason.COMPACTED),
    "compaction of the future": Row(lambda m: m.compact(FAR), Reason.FUTURE_REVISION),
    "hash of a compacted revision": Row(compacted_hash, Reason.COMPACTED, Capability.HASH_KV),
    "hash of a future revision": Row(lambda m: m.hash_kv(FAR), Reason.FUTURE_REVISION, Capability.HASH_KV),
    "put of an empty key": Row(lambda m: m.put(b"", b"v"), Reason.EMPTY_KEY),
    "delete of an empty key": Row(lambda m: m.delete(b""), Reason.EMPTY_KEY),
    "put of 1.7 MiB": Row(lambda m: m.put(b"k", bytes(1700 * KIB)), Reason.REQUEST_TOO_LARGE),
    "put of 3 MiB": Row(lambda m: m.put(b"k", bytes(3 * MIB)), Reason.REQUEST_TOO_LARGE),
    "put with an unknown lease": Row(lambda m: m.put(b"k", b"v", lease=STRANGER), Reason.LEASE_NOT_FOUND),
    "transaction of 129 puts": Row(
        lambda m: m.txn(then=[Put(b"k%d" % i, b"") for i in range(129)]), Reason.TOO_MANY_OPERATIONS
    ),
    "transaction with one key twice": Row(
        lambda m: m.txn(then=[Put(b"k", b"1"), Put(b"k", b"2")]), Reason.DUPLICATE_KEY
    ),
    "revocation of an unknown lease": Row(lambda m: m.lease_revoke(STRANGER), Reason.LEASE_NOT_FOUND),
    "renewal of an unknown lease": Row(lambda m: m.lease_keep_alive(STRANGER), Reason.LEASE_NOT_FOUND),
    "life of an unknown lease": Row(lambda m: m.lease_time_to_live(STRANGER), Reason.LEASE_NOT_FOUND),
    "lease of the same ID": Row(lease_of_the_same_id, Reason.LEASE_EXISTS),
    "removal of a stranger": Row(lambda m: m.member_remove(STRANGER), Reason.MEMBER_NOT_FOUND),
    "update of a stranger": Row(lambda m: m.member_update(STRANGER, ["http://127.0.0.1:1"]), Reason.MEMBER_NOT_FOUND),
    "promotion of a stranger": Row(lambda m: m.member_promote(STRANGER), Reason.MEMBER_NOT_FOUND, Capability.LEARNERS),
    "promotion of a voter": Row(promotion_of_a_voter, Reason.NOT_A_LEARNER, Capability.LEARNERS),
    "addition of a peer URL that is there": Row(own_peer_url, Reason.PEER_URL_EXISTS),
    "addition without a peer URL": Row(lambda m: m.member_add([]), Reason.BAD_URLS),
    "addition of what is no URL": Row(lambda m: m.member_add(["nowhere"]), Reason.BAD_URLS),
    "downgrade to a version long gone": Row(
        lambda m: m.downgrade_validate("3.1"), Reason.BAD_DOWNGRADE_TARGET, Capability.DOWNGRADE
    ),
    "downgrade to what is no version": Row(
        lambda m: m.downgrade_enable("three"), Reason.BAD_DOWNGRADE_TARGET, Capability.DOWNGRADE
    ),
    "authentication without a root user": Row(lambda m: m.auth_enable(), Reason.ROOT_USER_MISSING),
    "user without a name": Row(lambda m: m.user_add("", "secret"), Reason.USER_EMPTY),
    "role without a name": Row(lambda m: m.role_add(""), Reason.ROLE_EMPTY),
    "deletion of an unknown user": Row(lambda m: m.user_delete("nobody"), Reason.USER_NOT_FOUND),
    "roles of an unknown user": Row(lambda m: m.user_roles("nobody"), Reason.USER_NOT_FOUND),
    "password of an unknown user": Row(lambda m: m.user_change_password("nobody", "x"), Reason.USER_NOT_FOUND),
    "grant to an unknown user": Row(lambda m: m.user_grant("nobody", "root"), Reason.USER_NOT_FOUND),
    "revocation from an unknown user": Row(lambda m: m.user_revoke("nobody", "root"), Reason.USER_NOT_FOUND),
    "deletion of an unknown role": Row(lambda m: m.role_delete("none"), Reason.ROLE_NOT_FOUND),
    "permissions of an unknown role": Row(lambda m: m.role_permissions("none"), Reason.ROLE_NOT_FOUND),
    "permission for an unknown role": Row(
        lambda m: m.role_grant("none", Permission(Access.READ, b"k")), Reason.ROLE_NOT_FOUND
    ),
    "revocation from an unknown role": Row(lambda m: m.role_revoke("none", b"k"), Reason.ROLE_NOT_FOUND),
}


def can_be_asked(made: Cluster, row: Row) -> bool:
    return row.needs is None or can(Version.parse(release(made.version)), row.needs)


async def test_each_refusal_has_its_reason_and_changes_nothing(single: Cluster, pool: Pool) -> None:
    member = Dial(pool, single)()
    seen: dict[str, Reason] = {}
    asked = {name: row for name, row in ROWS.items() if can_be_asked(single, row)}

    for name, row in asked.items():
        with pytest.raises(RefusedError) as refusal:
            await row.call(member)
        seen[name] = refusal.value.reason

    assert seen == {name: row.reason for name, row in asked.items()}
    assert len((await member.member_list()).members) == 1
    assert await member.users() == ()
    assert await member.roles() == ()
    single[0].wait_healthy(within=5)


async def test_a_lease_for_centuries_is_refused_from_3_3_on(single: Cluster, pool: Pool) -> None:
    if single.version == "3.2":
        assert (await Dial(pool, single)().lease_grant(9_000_000_001)).ttl == 9_000_000_001
        return
    with pytest.raises(RefusedError) as refusal:
        await Dial(pool, single)().lease_grant(9_000_000_001)

    assert refusal.value.reason is Reason.LEASE_TTL_TOO_LARGE


async def test_the_leader_is_not_moved_to_a_stranger(single: Cluster, pool: Pool) -> None:
    member = Dial(pool, single)()
    if not can(await member.version(), Capability.MOVE_LEADER):
        return
    # 3.3 takes the request and waits, as long as its caller does, for a leader that never comes: who gives up first,
    # the server or the client, is chance.
    expected = UnknownOutcomeError if single.version == "3.3" else RefusedError
    reasons = {Reason.NO_ANSWER, Reason.TIMED_OUT} if single.version == "3.3" else {Reason.BAD_TRANSFEREE}
    with pytest.raises(expected) as error:
        await member.move_leader(STRANGER, deadline=1)

    assert error.value.reason in reasons


async def test_a_refusal_names_the_call_the_member_and_the_words_of_etcd(single: Cluster, pool: Pool) -> None:
    with pytest.raises(RefusedError) as refusal:
        await Dial(pool, single)().member_remove(STRANGER)

    assert str(refusal.value) == (f"MemberRemove on {target_of(single[0])}: etcdserver: member not found (NOT_FOUND)")
