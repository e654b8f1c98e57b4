"""Three members: all of them, then two, then one. Who leads, who may come and go, and what stays unknown.

The clusters of all versions run at once, and the tests follow their decline in the order of this file: members that
have just met must wait 5 s before etcd lets anybody join, and this way they wait together.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack, ExitStack

import grpc
import pytest

from etcd_operator.etcd.errors import EtcdError, NoAnswerError, Reason, UnknownOutcomeError
from etcd_operator.etcd.member import Member
from etcd_operator.etcd.pb import rpc_pb2 as pb
from etcd_operator.etcd.pool import Pool
from etcd_operator.etcd.results import MemberRecord
from etcd_operator.releases.capabilities import Capability, can
from etcd_operator.releases.version import Version
from tests.etcd.dialling import Dial
from tests.etcd.expecting import ends_of, eventually, members_after, once_let, refused
from tests.etcd.raw import raw_to
from tests.etcd.servers import VERSIONS, Cluster, cluster, free_port

SHORT = 0.5
LONG = 30.0

Clusters = dict[str, Cluster]
each_version = pytest.mark.parametrize("version", VERSIONS)
where_the_lead_moves = pytest.mark.parametrize(
    "version", [version for version in VERSIONS if can(Version.parse(version), Capability.MOVE_LEADER)]
)


@pytest.fixture(scope="module")
def all_three() -> Iterator[Clusters]:
    with ExitStack() as stack:
        clusters = {version: stack.enter_context(cluster(version, size=3, wait=False)) for version in VERSIONS}
        for made in clusters.values():
            made.wait_healthy()
        yield clusters


@pytest.fixture(scope="module")
def two_left(all_three: Clusters) -> Clusters:
    for made in all_three.values():
        made[2].kill()
    return all_three


@pytest.fixture(scope="module")
def one_left(two_left: Clusters) -> Clusters:
    for made in two_left.values():
        made[1].kill()
    return two_left


@pytest.fixture
async def survivor(one_left: Clusters, pool: Pool, version: str) -> Member:
    member = Dial(pool, one_left[version])()
    await eventually(member.status, until=lambda status: status.leader == 0)
    return member


async def id_of(member: Member) -> int:
    return (await member.status()).header.member_id


async def named(member: Member, name: str) -> MemberRecord:
    return next(found for found in (await member.member_list()).members if found.name == name)


@where_the_lead_moves
async def test_the_lead_moves_to_the_member_that_was_chosen(all_three: Clusters, pool: Pool, version: str) -> None:
    dial = Dial(pool, all_three[version])
    old = await dial.leader_index()
    chosen = (old + 1) % 3

    await dial(old).move_leader(await id_of(dial(chosen)))

    assert await dial.leader_index() == chosen


@where_the_lead_moves
async def test_a_follower_cannot_give_the_lead_away(all_three: Clusters, pool: Pool, version: str) -> None:
    dial = Dial(pool, all_three[version])
    follower = dial((await dial.leader_index() + 1) % 3)

    await refused(follower.move_leader(await id_of(follower)), Reason.NOT_LEADER)


@each_version
async def test_a_voter_is_added_moved_and_removed(all_three: Clusters, pool: Pool, version: str) -> None:
    leader = await Dial(pool, all_three[version]).leader()
    first, second = (f"http://127.0.0.1:{free_port('127.0.0.1')}" for _ in range(2))

    added = await once_let(lambda: leader.member_add([first]), not_yet=Reason.UNHEALTHY)
    updated = await members_after(
        lambda: leader.member_update(added.member.id, [second], deadline=2),
        leader,
        shows=lambda listed: (second,) in {member.peer_urls for member in listed.members},
    )
    removed = await members_after(
        lambda: leader.member_remove(added.member.id, deadline=2),
        leader,
        shows=lambda listed: added.member.id not in {member.id for member in listed.members},
    )

    assert added.member.peer_urls == (first,)
    assert not added.member.started
    assert not added.member.is_learner
    assert len(added.members) == 4
    assert {member.peer_urls for member in updated.members if member.id == added.member.id} == {(second,)}
    assert len(removed.members) == 3
    await refused(leader.member_remove(added.member.id), Reason.MEMBER_NOT_FOUND)


@each_version
async def test_no_voter_is_added_while_one_is_down(two_left: Clusters, pool: Pool, version: str) -> None:
    leader = await Dial(pool, two_left[version]).leader()

    await refused(leader.member_add(["http://127.0.0.1:1"]), Reason.UNHEALTHY)


@each_version
async def test_no_voter_that_answers_is_removed_while_one_is_down(two_left: Clusters, pool: Pool, version: str) -> None:
    dial = Dial(pool, two_left[version])
    leading = await dial.leader_index()

    await refused(dial(leading).member_remove(await id_of(dial(1 - leading))), Reason.UNHEALTHY)


@where_the_lead_moves
async def test_a_dead_member_does_not_get_the_lead(two_left: Clusters, pool: Pool, version: str) -> None:
    leader = await Dial(pool, two_left[version]).leader()
    dead = await named(leader, "m2")

    with pytest.raises(UnknownOutcomeError):
        await leader.move_leader(dead.id, deadline=SHORT)


async def test_a_watch_ends_when_the_majority_is_lost(two_left: Clusters, pool: Pool) -> None:
    async with AsyncExitStack() as stack:
        members = [Dial(pool, made)() for made in two_left.values()]
        watches = [await stack.enter_async_context(member.watch(b"key")) for member in members]
        for made in two_left.values():
            made[1].kill()

        ends = await ends_of([asyncio.wait_for(anext(watch), LONG) for watch in watches])

    assert {type(end) for end in ends} == {NoAnswerError}
    assert {end.reason for end in ends if isinstance(end, EtcdError)} == {Reason.NO_LEADER}


async def test_a_server_that_gives_up_by_itself_leaves_changes_unknown_and_reads_unanswered(
    one_left: Clusters, pool: Pool
) -> None:
    """After 7 s, each version in its own words and with its own code."""
    members = [Dial(pool, made)() for made in one_left.values()]
    for member in members:
        await eventually(member.status, until=lambda status: status.leader == 0)
    changes = [member.put(b"key", b"value", deadline=LONG) for member in members]
    ranges = [member.range(b"key", deadline=LONG) for member in members]
    alarms = [member.alarms(deadline=LONG) for member in members]

    ends = await ends_of([*changes, *ranges, *alarms])

    assert [type(end) for end in ends[:6]] == [UnknownOutcomeError] * 6
    assert [type(end) for end in ends[6:]] == [NoAnswerError] * 12
    assert {end.reason for end in ends if isinstance(end, EtcdError)} == {Reason.TIMED_OUT}


@each_version
async def test_what_a_member_knows_itself_is_answered_without_the_others(survivor: Member, version: str) -> None:
    status = await survivor.status()
    listed = await survivor.member_list(linearizable=False)
    found = await survivor.range(b"key", serializable=True)
    async with survivor.snapshot() as stream:
        received = sum([len(piece) async for piece in stream])

    assert not status.leads
    assert len(listed.members) == 3
    assert found.count == 0
    assert received == stream.total


@each_version
async def test_what_needs_the_others_ends_at_the_deadline(survivor: Member, version: str) -> None:
    reads = [
        survivor.range(b"key", deadline=SHORT),
        survivor.member_list(deadline=SHORT),
        survivor.users(deadline=SHORT),
        survivor.lease_time_to_live(1, deadline=SHORT),
    ]
    changes = [
        survivor.put(b"key", b"value", deadline=SHORT),
        survivor.delete(b"key", deadline=SHORT),
        survivor.lease_grant(60, deadline=SHORT),
        survivor.user_add("name", "secret", deadline=SHORT),
    ]

    assert [type(end) for end in await ends_of(reads)] == [NoAnswerError] * len(reads)
    assert [type(end) for end in await ends_of(changes)] == [UnknownOutcomeError] * len(changes)


@each_version
async def test_without_a_majority_nobody_joins(survivor: Member, version: str) -> None:
    await refused(survivor.member_add(["http://127.0.0.1:1"]), Reason.UNHEALTHY)


@where_the_lead_moves
async def test_without_a_majority_there_is_no_lead_to_move(survivor: Member, version: str) -> None:
    await refused(survivor.move_leader(1), Reason.NOT_LEADER)


@each_version
async def test_a_watch_does_not_begin_without_a_leader(survivor: Member, version: str) -> None:
    with pytest.raises(EtcdError) as error:
        async with survivor.watch(b"key"):
            pass

    assert error.value.reason is Reason.NO_LEADER


@each_version
async def test_a_raw_list_is_linearizable_where_the_table_says(
    survivor: Member, one_left: Clusters, pool: Pool, version: str
) -> None:
    async with raw_to(pool, one_left[version]) as raw:
        code = await raw.code("etcdserverpb.Cluster/MemberList", pb.MemberListRequest(linearizable=True))

    assert (code is not grpc.StatusCode.OK) == can(Version.parse(version), Capability.LINEARIZABLE_MEMBER_LIST)


async def test_the_dead_one_is_removed(pool: Pool) -> None:
    """On a cluster of its own: this cannot be taken back."""
    with cluster("3.6", size=3) as made:
        made[2].kill()
        leader = await Dial(pool, made).leader()
        dead = await named(leader, "m2")

        left = await once_let(lambda: leader.member_remove(dead.id), not_yet=Reason.UNHEALTHY)

        assert sorted(member.name for member in left.members) == ["m0", "m1"]
