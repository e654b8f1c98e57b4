"""What the operator sees of real members: who answers itself, who is silent, and whose list is believed."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from etcd_operator.api.cluster import EtcdCluster
from etcd_operator.api.reading import decode, stored
from etcd_operator.cluster.inquiry import Heard, inquire
from etcd_operator.etcd.line import Login
from etcd_operator.etcd.member import Member
from etcd_operator.etcd.pool import Pool
from etcd_operator.plan.view import Answer, Body, Identity, Silence, Stage
from etcd_operator.releases.capabilities import Capability, can
from etcd_operator.releases.version import Version
from tests.etcd.dialling import Dial
from tests.etcd.expecting import eventually
from tests.etcd.pods import bodies_of, dialler_of
from tests.etcd.servers import VERSIONS, Cluster, cluster, release

FEW = ("3.2", "3.5", "3.7")


def the_cluster() -> EtcdCluster:
    found = decode(EtcdCluster, stored({"metadata": {"name": "demo", "namespace": "ns"}, "spec": {"size": 3}}))
    assert isinstance(found, EtcdCluster)
    return found


async def seen(pool: Pool, made: Cluster, bodies: dict[str, Body] | None = None, login: Login | None = None) -> Heard:
    them = bodies or bodies_of(made)
    return await inquire(the_cluster(), [*them.values()], dialler_of(pool, made, login=login))


def linearizable(heard: Heard) -> set[str]:
    return {name for name, said in heard.answers.items() if isinstance(said, Answer) and said.linearizable}


def silent(heard: Heard) -> set[str]:
    return {name for name, said in heard.answers.items() if isinstance(said, Silence)}


@pytest.mark.parametrize("version", VERSIONS)
async def test_all_members_answer_and_the_list_is_had(pool: Pool, version: str) -> None:
    with cluster(version, size=3, tls=True) as made:
        await Dial(pool, made).leader_index()
        heard = await seen(pool, made)

        assert linearizable(heard) == {server.name for server in made.servers}
        assert heard.roster is not None
        assert {member.id for member in heard.roster} == {
            said.identity.member_id for said in heard.answers.values() if isinstance(said, Answer)
        }
        versions = {said.version for said in heard.answers.values() if isinstance(said, Answer)}
        assert versions == {Version.parse(release(version))}
        assert (heard.alarms, heard.unauthorized) == ((), "")


@pytest.mark.parametrize("version", FEW)
async def test_a_frozen_member_is_silent_and_the_list_is_had_all_the_same(pool: Pool, version: str) -> None:
    with cluster(version, size=3) as made:
        leader = await Dial(pool, made).leader_index()
        frozen = made[(leader + 1) % 3]
        frozen.freeze()
        try:
            heard = await seen(pool, made)
        finally:
            frozen.thaw()

        assert silent(heard) == {frozen.name}
        assert len(heard.roster or ()) == 3


@pytest.mark.parametrize("version", FEW)
async def test_without_a_majority_there_is_no_list_and_nobody_is_healthy(pool: Pool, version: str) -> None:
    with cluster(version, size=3) as made:
        await Dial(pool, made).leader_index()
        for server in made.servers[1:]:
            server.kill()

        async def lonely() -> Heard:
            return await seen(pool, made)

        heard = await eventually(lonely, until=lambda found: not linearizable(found))

        assert heard.roster is None
        assert heard.no_roster
        assert isinstance(heard.answers[made[0].name], Answer), "its own status needs no others"
        assert silent(heard) == {server.name for server in made.servers[1:]}


@pytest.mark.parametrize("version", [each for each in VERSIONS if can(Version.parse(each), Capability.LEARNERS)])
async def test_a_learner_answers_for_itself_and_is_no_witness(pool: Pool, version: str) -> None:
    with cluster(version) as made:
        joiner = made.prepare()
        await Dial(pool, made)().member_add([joiner.peer_url], learner=True)
        made.join(joiner)

        async def both() -> Heard:
            return await seen(pool, made)

        heard = await eventually(both, until=lambda found: isinstance(found.answers.get(joiner.name), Answer))

        answer = heard.answers[joiner.name]
        assert isinstance(answer, Answer)
        assert (answer.learner, answer.linearizable) == (True, False)
        assert [member.learner for member in heard.roster or ()].count(True) == 1


@pytest.mark.parametrize("version", [each for each in VERSIONS if can(Version.parse(each), Capability.LEARNERS)])
async def test_a_learner_answers_also_where_authentication_is_on(pool: Pool, version: str) -> None:
    """It takes no logins itself, and tells its status only to those who have one."""
    root = Login("root", "secret")
    with cluster(version) as made:
        joiner = made.prepare()
        await Dial(pool, made)().member_add([joiner.peer_url], learner=True)
        await turn_on(pool, made, root)
        made.join(joiner)

        async def both() -> Heard:
            return await seen(pool, made, login=root)

        heard = await eventually(both, until=lambda found: isinstance(found.answers.get(joiner.name), Answer))

        answer = heard.answers[joiner.name]
        assert isinstance(answer, Answer)
        assert (answer.learner, heard.unauthorized) == (True, "")


async def turn_on(pool: Pool, made: Cluster, root: Login) -> None:
    member = Dial(pool, made)()
    await member.user_add(root.user, root.password)
    await member.role_add("root")
    await member.user_grant("root", "root")
    assert await member.authentication_is_on() is False
    await member.auth_enable()


async def test_another_member_at_the_address_is_not_taken_for_the_one_that_was_meant(pool: Pool) -> None:
    with cluster("3.6") as made:
        bodies = {name: replace(body, identity=Identity(1, 2)) for name, body in bodies_of(made).items()}
        heard = await seen(pool, made, bodies)

        assert silent(heard) == {made[0].name}
        assert heard.roster is None


async def test_a_list_that_does_not_know_who_gave_it_by_the_name_of_its_pod_is_another_clusters(pool: Pool) -> None:
    """Before the ID of a cluster is known, the address of a pod that is gone may lead to any etcd."""
    with cluster("3.6") as made:
        neighbour, name = bodies_of(made)[made[0].name], "demo-x7k2b9tqzw"
        known = dialler_of(pool, made)

        def dial(body: Body, *, identity: Identity | None = None, anyone: bool = False) -> Member:
            return known(neighbour, identity=identity, anyone=anyone)

        heard = await inquire(the_cluster(), [replace(neighbour, name=name)], dial)

        assert silent(heard) == {name}
        assert heard.roster is None
        assert "another cluster" in heard.no_roster


async def test_a_member_of_which_nobody_has_told_that_it_runs_is_heard_if_it_answers(pool: Pool) -> None:
    with cluster("3.6") as made:
        guarded = {name: replace(body, stage=Stage.GUARDED) for name, body in bodies_of(made).items()}
        assert linearizable(await seen(pool, made, guarded)) == {made[0].name}

        made[0].kill()
        assert (await seen(pool, made, guarded)).answers == {}, "it is not silent, it has not begun"


@pytest.mark.parametrize("version", FEW)
async def test_where_authentication_is_on_it_is_told_who_is_not_let_in(pool: Pool, version: str) -> None:
    root = Login("root", "secret")
    with cluster(version) as made:
        await turn_on(pool, made, root)
        assert await dialler_of(pool, made, login=root)(bodies_of(made)[made[0].name]).authentication_is_on() is True

        nobody, known = await asyncio.gather(seen(pool, made), seen(pool, made, login=root))

        assert nobody.unauthorized
        assert (nobody.roster, linearizable(nobody)) == (None, set())
        assert (known.unauthorized, len(known.roster or ())) == ("", 1)
