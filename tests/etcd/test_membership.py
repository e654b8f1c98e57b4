"""Steps that change who belongs to a cluster, on real ones: each has its effect once, and who asks twice is done."""

from __future__ import annotations

import pytest

from etcd_operator.cluster.inquiry import Heard, inquire
from etcd_operator.cluster.membership import Change, Membership
from etcd_operator.cluster.outcome import NotDoneError, UnknownError
from etcd_operator.etcd.metrics import MetricsPages
from etcd_operator.etcd.pool import Pool
from etcd_operator.plan.steps import AddMember, MoveLeader, PromoteLearner, RemoveMember, SaveRaftSnapshots
from etcd_operator.plan.view import Answer, View
from tests.etcd.dialling import Dial
from tests.etcd.expecting import eventually
from tests.etcd.listening import told
from tests.etcd.pods import bodies_of, dialler_of
from tests.etcd.servers import Cluster, cluster
from tests.etcd.test_inquiry import the_cluster
from tests.unit.cluster.views import a_view


async def hands_on(pool: Pool, made: Cluster) -> Membership:
    """Once there is a leader."""
    dial = dialler_of(pool, made)

    async def look() -> Heard:
        return await inquire(the_cluster(), [*bodies_of(made).values()], dial)

    heard = await eventually(look, until=lambda found: found.roster is not None)
    view: View = a_view(cluster=the_cluster(), bodies=bodies_of(made), answers=heard.answers, roster=heard.roster)
    return Membership(view, dial)


async def done(hands: Membership, step: Change) -> None:
    """In the end: for some seconds after a change etcd refuses the next one, and a leader that goes may not answer."""

    async def taken() -> bool:
        try:
            await hands.change(step)
        except (NotDoneError, UnknownError):
            return False
        return True

    await eventually(taken, until=bool)


def id_of(hands: Membership, name: str) -> int:
    answer = hands.view.answers[name]
    assert isinstance(answer, Answer)
    return answer.identity.member_id


async def test_a_member_is_added_once_and_becomes_a_voter_once(pool: Pool) -> None:
    with cluster("3.6") as made:
        joiner = made.prepare()
        adding = AddMember(member=joiner.name, peer_url=joiner.peer_url, learner=True)
        hands = await hands_on(pool, made)
        await hands.change(adding)
        await hands.change(adding)

        (learner,) = [member for member in (await Dial(pool, made)().member_list()).members if member.is_learner]
        with pytest.raises(NotDoneError) as refusal:
            await hands.change(PromoteLearner(joiner.name, learner.id))
        assert refusal.value.reason == "LearnerNotInSync"

        made.join(joiner)
        hands = await hands_on(pool, made)

        await done(hands, PromoteLearner(joiner.name, learner.id))
        await done(hands, PromoteLearner(joiner.name, learner.id))
        assert [member.is_learner for member in (await Dial(pool, made)().member_list()).members] == [False, False]


async def test_the_leader_hands_over_and_its_own_removal_is_asked_of_another(pool: Pool) -> None:
    with cluster("3.6", size=3) as made:
        first = made[await Dial(pool, made).leader_index()].name
        hands = await hands_on(pool, made)
        heir = next(name for name in hands.view.answers if name != first)
        await hands.change(MoveLeader(origin=first, to=heir, to_id=id_of(hands, heir)))
        assert made[await Dial(pool, made).leader_index()].name == heir

        hands = await hands_on(pool, made)
        removal = RemoveMember(heir, id_of(hands, heir))
        await done(hands, removal)
        await done(hands, removal)
        rest = next(index for index, server in enumerate(made.servers) if server.name != heir)
        assert removal.id not in {member.id for member in (await Dial(pool, made)(rest).member_list()).members}


async def test_a_change_without_an_answer_is_not_known_to_be_made(pool: Pool) -> None:
    """A voter that never starts leaves one of two, and no further change comes to an end."""
    with cluster("3.6") as made:
        missing = made.prepare()
        hands = await hands_on(pool, made)
        await hands.change(AddMember(member=missing.name, peer_url=missing.peer_url, learner=False))
        members = await Dial(pool, made)().member_list(linearizable=False)
        added = next(member.id for member in members.members if missing.peer_url in member.peer_urls)

        with pytest.raises(UnknownError):
            await hands.change(RemoveMember(missing.name, added))


async def test_without_a_leader_nothing_is_sent(pool: Pool) -> None:
    with cluster("3.6") as made:
        hands = await hands_on(pool, made)
        lonely = Membership(a_view(cluster=the_cluster(), bodies=hands.view.bodies), hands.dial)

        with pytest.raises(NotDoneError, match="answers as the leader"):
            await lonely.change(RemoveMember("m9", 9))


async def test_every_member_saves_a_raft_snapshot_and_no_key_changes(pool: Pool) -> None:
    pages = MetricsPages()
    try:
        with cluster("3.6", size=3, environment=told) as made:
            hands = await hands_on(pool, made)
            before = (await Dial(pool, made)().range(b"\0")).header.revision
            saved = [await pages.raft_snapshots(server.metrics, deadline=10) for server in made.servers]
            assert saved == [0, 0, 0]

            await hands.change(SaveRaftSnapshots())

            async def everywhere() -> bool:
                counts = [await pages.raft_snapshots(server.metrics, deadline=10) for server in made.servers]
                return all(counts)

            await eventually(everywhere, until=bool)
            assert (await Dial(pool, made)().range(b"\0")).header.revision == before
    finally:
        await pages.close()
