"""Members come, are promoted, change their address and go; and what etcd refuses on the way."""

from __future__ import annotations

from functools import partial

import pytest

from etcd_operator.etcd.errors import EtcdError, Reason, UnknownOutcomeError
from etcd_operator.etcd.member import Member
from etcd_operator.etcd.pool import Pool
from etcd_operator.etcd.results import MemberList
from etcd_operator.releases.capabilities import Capability, can
from etcd_operator.releases.version import Version
from tests.etcd.conftest import BOTH_WAYS, name_of
from tests.etcd.dialling import Dial
from tests.etcd.expecting import eventually, members_after, once_let, refused
from tests.etcd.servers import Cluster, cluster, free_port

WITH_LEARNERS = [setup for setup in BOTH_WAYS if can(Version.parse(setup[0]), Capability.LEARNERS)]


def nowhere() -> str:
    """A peer URL at which nobody will ever be."""
    return f"http://127.0.0.1:{free_port('127.0.0.1')}"


async def test_the_members_are_listed_the_same_by_each(three: Cluster, pool: Pool) -> None:
    dial = Dial(pool, three)
    lists = [await dial(index).member_list() for index in range(3)]
    statuses = [await dial(index).status() for index in range(3)]

    by_name = [sorted(listed.members, key=lambda member: member.name) for listed in lists]
    assert by_name[0] == by_name[1] == by_name[2]
    assert [member.name for member in by_name[0]] == ["m0", "m1", "m2"]
    assert [member.id for member in by_name[0]] == [status.header.member_id for status in statuses]
    assert [member.peer_urls for member in by_name[0]] == [(server.peer_url,) for server in three.servers]
    assert [member.client_urls for member in by_name[0]] == [(server.client_url,) for server in three.servers]
    assert all(member.started and not member.is_learner for member in by_name[0])


async def test_a_list_need_not_be_linearizable(single: Cluster, pool: Pool) -> None:
    member = Dial(pool, single)()

    assert await member.member_list(linearizable=False) == await member.member_list()


async def test_a_member_gets_another_address(single: Cluster, pool: Pool) -> None:
    member = Dial(pool, single)()
    me = (await member.status()).header.member_id
    both = [single[0].peer_url, nowhere()]

    for urls in (both, [single[0].peer_url]):
        await members_after(
            partial(member.member_update, me, urls, deadline=2),
            member,
            shows=partial(has_addresses, sorted(urls)),
        )


def has_addresses(urls: list[str], listed: MemberList) -> bool:
    return sorted(listed.members[0].peer_urls) == urls


async def test_the_lead_moves_to_the_member_that_was_chosen_also_with_tls(three: Cluster, pool: Pool) -> None:
    dial = Dial(pool, three)
    if not can(await dial().version(), Capability.MOVE_LEADER):
        return
    old = await dial.leader_index()
    chosen = (old + 1) % 3

    await dial(old).move_leader((await dial(chosen).status()).header.member_id)

    assert await dial.leader_index() == chosen


@pytest.mark.parametrize("setup", WITH_LEARNERS, ids=name_of)
async def test_a_learner_that_is_not_wanted_is_removed(pool: Pool, setup: tuple[str, bool]) -> None:
    version, tls = setup
    with cluster(version, tls=tls) as made:
        member = Dial(pool, made)()
        unwanted = (await member.member_add([nowhere()], learner=True)).member.id

        left = await members_after(
            lambda: member.member_remove(unwanted, deadline=2),
            member,
            shows=lambda listed: unwanted not in {one.id for one in listed.members},
        )

        assert [one.name for one in left.members] == ["m0"]


@pytest.mark.parametrize("setup", WITH_LEARNERS, ids=name_of)
async def test_a_learner_is_added_starts_catches_up_and_is_promoted(pool: Pool, setup: tuple[str, bool]) -> None:
    version, tls = setup
    with cluster(version, tls=tls) as made:
        dial = Dial(pool, made)
        await dial().put(b"key", b"value")
        learner = made.prepare()
        added = await dial().member_add([learner.peer_url], learner=True)
        assert added.member.is_learner
        await refused(dial().member_promote(added.member.id), Reason.NOT_IN_SYNC)
        await refused(dial().member_add([nowhere()], learner=True), Reason.TOO_MANY_LEARNERS)

        made.join(learner)
        assert (await eventually(dial(1).status, but=(EtcdError,))).is_learner
        await only_what_a_learner_may(dial(1))
        await refused(dial().move_leader(added.member.id), Reason.BAD_TRANSFEREE)
        promotion = partial(dial().member_promote, added.member.id, deadline=2)
        promoted = await members_after(
            lambda: once_let(promotion, not_yet=Reason.NOT_IN_SYNC),
            dial(),
            shows=lambda listed: not any(member.is_learner for member in listed.members),
        )

        assert len(promoted.members) == 2
        await eventually(dial(1).status, until=lambda status: not status.is_learner)
        assert (await dial(1).range(b"key")).items[0].value == b"value"
        await refused(dial().member_promote(added.member.id), Reason.NOT_A_LEARNER)


async def only_what_a_learner_may(learner: Member) -> None:
    await learner.range(b"key", serializable=True)
    await refused(learner.range(b"key"), Reason.NOT_FOR_LEARNERS)
    await refused(learner.put(b"key", b""), Reason.NOT_FOR_LEARNERS)
    await refused(learner.member_list(), Reason.NOT_FOR_LEARNERS)


async def test_a_voter_that_never_starts_costs_a_cluster_of_one_its_quorum(pool: Pool) -> None:
    """Why a member is added as a learner: the second change is neither made nor refused."""
    with cluster("3.6") as made:
        member = Dial(pool, made)()
        added = await member.member_add([nowhere()])

        with pytest.raises(UnknownOutcomeError):
            await member.member_remove(added.member.id, deadline=2)
