from __future__ import annotations

from datetime import timedelta

import pytest

from etcd_operator.plan import steps
from tests.unit.plan.world import World, a_running_cluster

VERSIONS = ["3.2.13", "3.3.27", "3.4.45", "3.5.35", "3.6.16", "3.7.3"]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("claims", [False, True])
@pytest.mark.parametrize("size", [1, 3, 5, 7])
def test_a_cluster_comes_up(size: int, version: str, claims: bool) -> None:
    world = World(size=size, version=version, claims=claims).run()

    assert len(world.voters) == len(world.members) == size
    assert world.condition("Ready") == ("True", "Healthy")
    assert world.status.members_ready == f"{size}/{size}"
    assert world.status.operation is None
    assert world.births == 1


def test_on_newer_versions_all_join_as_learners_together() -> None:
    world = World(size=5).run()

    kinds = [type(step) for step in world.log]
    assert kinds == [steps.StartMembers, *[steps.AddMember] * 4, *[steps.PromoteLearner] * 4]


@pytest.mark.parametrize("version", VERSIONS)
def test_it_is_scaled_up_and_down_again(version: str) -> None:
    world = a_running_cluster(1, version=version)

    for size in (3, 5, 7, 3, 1, 2, 1):
        world.size = size
        world.run()
        assert len(world.voters) == len(world.pods) == size
        assert world.condition("Ready") == ("True", "Healthy")


@pytest.mark.parametrize("version", VERSIONS)
def test_a_member_that_is_gone_is_replaced(version: str) -> None:
    world = a_running_cluster(3, version=version)
    gone = world.names[0]
    world.lose_pod(gone)
    world.run()

    assert len(world.voters) == 3
    assert gone not in world.names
    assert "MemberReplaced" in world.events


def test_a_member_on_a_claim_comes_back_as_itself() -> None:
    world = a_running_cluster(3, claims=True)
    before = world.names
    world.lose_pod(before[0])
    world.run()

    assert world.names == before
    assert [type(step) for step in world.log] == [steps.ReturnMember]


def test_all_members_on_claims_come_back() -> None:
    world = a_running_cluster(3, claims=True)
    before = world.names
    for name in before:
        world.lose_pod(name)
    world.run()

    assert world.names == before
    assert world.condition("Ready") == ("True", "Healthy")


def test_a_wiped_disk_costs_the_member_and_nothing_else() -> None:
    world = a_running_cluster(3, claims=True)
    wiped = world.names[0]
    world.wipe(wiped)
    world.run()

    assert wiped not in world.names
    assert len(world.voters) == 3


def test_a_lost_majority_is_left_alone() -> None:
    world = a_running_cluster(3)
    for name in world.names[:2]:
        world.lose_pod(name)
    for _ in range(50):
        world.pass_time(world.turn())

    assert world.log == []
    assert world.condition("Available") == ("False", "QuorumLost")
    assert world.status.phase == "Failed"


def test_a_frozen_member_is_given_up_after_the_window_and_not_before() -> None:
    world = a_running_cluster(3)
    frozen = world.names[0]
    world.freeze(frozen)
    begin = world.now
    world.run(until=lambda: bool(world.log))

    assert world.now - begin >= timedelta(minutes=5)
    world.run()
    assert frozen not in world.names
    assert len(world.voters) == 3


def test_a_frozen_member_that_thaws_stays() -> None:
    world = a_running_cluster(3)
    before = world.names
    world.freeze(before[0])
    begin = world.now
    world.run(until=lambda: world.now - begin > timedelta(minutes=4))
    world.thaw(before[0])
    world.run()

    assert world.names == before
    assert world.log == []


def test_a_frozen_member_stops_all_that_nobody_forces() -> None:
    world = a_running_cluster(5)
    world.freeze(world.names[0])
    world.size, world.version = 3, "3.6.15"
    begin = world.now
    world.run(until=lambda: world.now - begin > timedelta(minutes=4))

    assert world.log == []
    assert "answer" in world.whys[-1]


@pytest.mark.parametrize("claims", [False, True])
def test_it_is_upgraded_one_member_at_a_time_with_the_leader_last(claims: bool) -> None:
    world = a_running_cluster(3, version="3.5.35", claims=claims)
    before, leader = world.names, world.leader
    world.version = "3.6.16"
    world.run()

    kind = steps.DeletePod if claims else steps.ChangeImage
    order = [step.member for step in world.log if isinstance(step, kind)]
    assert sorted(order) == before == world.names
    assert order[-1] == next(member.name for member in world.members if member.id == leader)
    assert world.status.current_version == "3.6.16"
    assert world.steps_of(steps.MoveLeader)
    assert {"UpgradeStarted", "UpgradeFinished"} <= set(world.events)


def test_a_quiet_cluster_saves_raft_snapshots_before_it_goes_to_3_7() -> None:
    world = a_running_cluster(3, version="3.6.16")
    world.version = "3.7.3"
    world.run()

    assert isinstance(world.log[0], steps.SaveRaftSnapshots)
    assert world.status.current_version == "3.7.3"


def test_a_jump_over_a_minor_is_refused_and_changes_nothing() -> None:
    world = a_running_cluster(3, version="3.4.45")
    world.version = "3.6.16"
    world.run()

    assert world.log == []
    assert world.condition("Ready") == ("False", "InvalidSpec")
    assert world.condition("Available") == ("True", "Serving")
    assert "UpgradeBlocked" in world.events


def test_a_pod_without_a_node_keeps_nobody_from_being_healed() -> None:
    world = a_running_cluster(3)
    world.size = 5
    world.run(until=lambda: len(world.pods) == 5)
    stuck = next(name for name in world.pods if name not in world.names)
    world.pods[stuck].schedulable = False
    lost = world.names[0]
    world.lose_pod(lost)
    world.run(
        until=lambda: len(world.voters) == 4 and world.has_quorum() and all(map(world.alive, world.voters)), turns=400
    )

    assert lost not in world.names
    world.pods[stuck].schedulable = True
    world.run()
    assert len(world.voters) == 5


def test_a_new_pod_policy_reaches_every_member() -> None:
    for claims in (False, True):
        world = a_running_cluster(3, claims=claims)
        before = world.names
        world.policy = "p2"
        world.run()

        assert {pod.policy for pod in world.pods.values()} == {"p2"}
        assert (world.names == before) is claims
        assert len(world.voters) == 3


def test_a_size_that_changes_back_in_mid_operation_ends_where_it_should() -> None:
    for turns in range(1, 40):
        world = a_running_cluster(3)
        world.size = 5
        for _ in range(turns):
            world.pass_time(world.turn())
        world.size = 3
        world.run()
        assert len(world.voters) == len(world.pods) == 3


def test_a_wiped_status_brings_no_second_seed() -> None:
    for turns in range(30):
        world = World(size=3)
        for _ in range(turns):
            world.pass_time(world.turn())
        world.wipe_status()
        world.run(turns=600)
        assert world.births == 1
        assert len(world.voters) == 3


def test_what_has_lived_and_is_gone_is_not_made_anew() -> None:
    world = a_running_cluster(3)
    for name in world.names:
        world.lose_pod(name)
    world.wipe_status()
    for _ in range(20):
        world.pass_time(world.turn())

    assert world.log == []
    assert "Restore a backup" in world.whys[-1]


def test_a_paused_cluster_is_left_alone_and_says_so() -> None:
    world = a_running_cluster(3)
    world.paused = True
    world.size = 5
    world.lose_pod(world.names[0])
    for _ in range(10):
        world.pass_time(world.turn())

    assert world.log == []
    assert world.condition("Ready") == ("False", "Paused")
    assert world.status.control_paused is True
    world.paused = False
    world.run()
    assert len(world.voters) == 5


def test_a_member_removed_by_hand_is_made_up_for() -> None:
    world = a_running_cluster(3, claims=True)
    gone = world.members[1]
    world.members.remove(gone)
    world.run()

    assert len(world.voters) == 3
    assert gone.name not in world.pods
    assert gone.name in world.disks


def test_a_pause_does_not_count_as_waiting_for_a_member_that_has_its_disk() -> None:
    world = a_running_cluster(3, claims=True)
    before = world.names
    world.paused = True
    world.lose_pod(before[0])
    for _ in range(60):
        world.pass_time(world.turn())
    world.paused = False
    world.run()

    assert world.names == before
