"""Members that a person added or removed with etcdctl."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.unit.plan.world import a_running_cluster


@pytest.mark.parametrize("learner", [False, True])
def test_a_member_that_was_added_and_never_starts_is_removed_after_a_while(learner: bool) -> None:
    world = a_running_cluster(3)
    stranger = world.add_by_hand("demo-elsewhere", learner=learner)
    world.spend(timedelta(minutes=4))
    assert stranger in world.members
    world.run(until=lambda: stranger not in world.members)
    world.run()

    assert len(world.voters) == 3
    assert len(world.log) == 1


@pytest.mark.parametrize("learner", [False, True])
def test_a_member_that_somebody_else_runs_is_never_removed(learner: bool) -> None:
    world = a_running_cluster(3)
    stranger = world.add_by_hand("demo-elsewhere", learner=learner, started=True)
    world.spend(timedelta(minutes=12))

    assert stranger in world.members
    assert world.log == []


def test_a_voter_that_cannot_be_asked_stops_all_that_nobody_forces() -> None:
    world = a_running_cluster(3)
    stranger = world.add_by_hand("demo-elsewhere", learner=False, started=True)
    world.size, world.policy = 5, "p2"
    world.spend(timedelta(minutes=12))

    assert world.log == []
    assert f"etcdctl member remove {stranger.id:x}" in world.whys[-1]


def test_a_stranger_does_not_push_out_a_member_of_ours() -> None:
    world = a_running_cluster(3)
    before = world.names
    world.add_by_hand("demo-elsewhere", learner=True, started=True)
    world.spend(timedelta(minutes=12))

    assert set(before) < set(world.names)


def test_a_member_is_replaced_also_beside_a_stranger_that_only_listens() -> None:
    world = a_running_cluster(3)
    lost = world.names[0]
    world.add_by_hand("demo-elsewhere", learner=True, started=True)
    world.lose_pod(lost)
    world.run()

    assert len(world.voters) == 3


def test_a_member_removed_by_hand_in_the_middle_of_its_own_upgrade_is_made_up_for() -> None:
    world = a_running_cluster(3, claims=True)
    world.version = "3.6.17"
    world.run(until=lambda: bool(world.log) and bool(world.status.operation and world.status.operation.members))
    operation = world.status.operation
    assert operation
    (moved,) = operation.members or ()
    world.remove_by_hand(moved)
    world.run()

    assert len(world.voters) == 3
    assert moved not in world.pods
    assert {str(pod.version) for pod in world.pods.values()} == {"3.6.17"}
