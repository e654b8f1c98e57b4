"""Pods that wait to become members."""

from __future__ import annotations

from datetime import timedelta

import pytest

from etcd_operator.plan import steps
from tests.unit.plan.world import a_running_cluster


def test_pods_that_find_no_node_are_made_anew_when_the_user_asks_for_others() -> None:
    world = a_running_cluster(3, claims=True)
    world.size, world.full = 5, True
    world.spend(timedelta(minutes=2))
    stuck = [pod.uid for pod in world.pods.values() if not pod.node]
    assert len(stuck) == 2
    world.policy = "p2"
    world.spend(timedelta(minutes=1))
    assert not {pod.uid for pod in world.pods.values()} & set(stuck)

    world.full = False
    world.run()
    assert world.as_wanted()


def test_a_pod_that_waited_long_for_a_node_is_not_taken_for_a_slow_learner() -> None:
    world = a_running_cluster(3)
    world.size, world.full = 4, True
    world.spend(timedelta(minutes=15))
    world.full = False
    world.run()

    assert world.steps_of(steps.RemoveMember) == []
    assert len(world.voters) == 4


def test_a_learner_that_has_caught_up_is_not_blamed_for_a_silent_voter() -> None:
    world = a_running_cluster(5)
    world.size = 6
    world.run(until=lambda: any(member.learner and world.alive(member) for member in world.members))
    learner = next(member for member in world.members if member.learner)
    world.alone = True
    world.freeze(world.voters[0].name)
    world.spend(timedelta(minutes=15))

    assert learner in world.members


def test_a_learner_that_does_not_get_on_is_followed_by_another() -> None:
    world = a_running_cluster(3, version="3.5.35")
    world.size = 4
    world.run(until=lambda: any(member.learner and world.alive(member) for member in world.members))
    slow = next(member for member in world.members if member.learner)
    world.freeze(slow.name)
    begin = world.now
    world.run()

    assert slow.name not in world.names
    assert len(world.voters) == 4
    assert world.now - begin > timedelta(minutes=10)


def test_an_operator_killed_before_it_removes_a_slow_learner_still_does() -> None:
    world = a_running_cluster(3, version="3.5.35")
    world.size = 4
    world.run(until=lambda: any(member.learner and world.alive(member) for member in world.members))
    world.lose_pod(next(member.name for member in world.members if member.learner))
    world.on_the_brink(of=steps.RemoveMember)
    world.run()

    assert len(world.voters) == 4


@pytest.mark.parametrize("claims", [False, True])
def test_a_learner_that_is_removed_by_hand_is_followed_by_another(claims: bool) -> None:
    world = a_running_cluster(3, claims=claims)
    world.size = 4
    world.run(until=lambda: any(member.learner and world.alive(member) for member in world.members))
    removed = next(member.name for member in world.members if member.learner)
    world.turn()
    world.remove_by_hand(removed)
    world.run()

    assert removed not in world.names
    assert len(world.voters) == 4


def test_who_joins_in_the_middle_of_an_upgrade_gets_the_lower_version() -> None:
    world = a_running_cluster(5, version="3.5.35")
    world.version = "3.6.16"
    world.run(until=lambda: len({pod.runs for pod in world.pods.values()}) == 2)
    world.log.clear()
    world.lose_pod(next(name for name, pod in world.pods.items() if str(pod.runs) == "3.5.35"))
    world.run(until=lambda: bool(world.steps_of(steps.StartMembers)))
    (started,) = world.steps_of(steps.StartMembers)

    assert isinstance(started, steps.StartMembers)
    assert {str(start.version) for start in started.starts} == {"3.5.35"}
    world.run()
    assert world.as_wanted()


def test_the_pod_of_a_removed_member_that_nobody_can_delete_says_nothing_of_versions() -> None:
    world = a_running_cluster(3, version="3.5.35")
    lost = world.names[0]
    world.lose_node(world.pods[lost].node)
    world.run(until=lambda: lost not in world.names)
    world.run(until=lambda: len(world.voters) == 3)
    assert world.pods[lost].deleting
    world.version = "3.6.16"
    world.run(until=lambda: world.status.current_version == "3.6.16")
    world.version, world.size = "3.7.3", 4
    world.run(until=lambda: world.status.current_version == "3.7.3" and len(world.voters) == 4)


@pytest.mark.parametrize("version", ["3.2.13", "3.3.27"])
@pytest.mark.parametrize("claims", [False, True])
def test_a_second_voter_that_loses_its_pod_before_it_starts_gets_it_again(version: str, claims: bool) -> None:
    """From its listing on both are needed, and nobody gives a list any more."""
    world = a_running_cluster(1, version=version, claims=claims)
    world.size = 2
    world.run(until=lambda: len(world.members) == 2)
    world.lose_pod(world.names[1])
    world.run()

    assert len(world.voters) == 2
    assert world.as_wanted()


def test_a_voter_is_added_only_when_its_image_is_on_its_node() -> None:
    world = a_running_cluster(1, version="3.3.27")
    world.size = 2
    world.run()

    kinds = [type(step) for step in world.log]
    assert kinds.index(steps.PullImage) < kinds.index(steps.AddMember)
