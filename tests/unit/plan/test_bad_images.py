from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise

import pytest

from etcd_operator.plan import steps
from tests.unit.plan.world import World, a_running_cluster


@pytest.mark.parametrize("claims", [False, True])
@pytest.mark.parametrize("size", [1, 3])
def test_a_member_that_does_not_start_with_a_new_image_goes_back(size: int, claims: bool) -> None:
    world = a_running_cluster(size, claims=claims)
    before = world.names
    world.bad_versions, world.version = ("3.6.17",), "3.6.17"
    world.run()

    assert world.names == before
    assert {str(pod.runs) for pod in world.pods.values()} == {"3.6.16"}
    assert world.status.failed_version == "3.6.17"
    assert world.condition("Ready") == ("False", "InvalidSpec")
    assert world.condition("Available") == ("True", "Serving")


def test_the_last_member_goes_back_too_where_the_others_have_moved() -> None:
    world = a_running_cluster(3)
    world.version = "3.6.17"
    world.run(until=lambda: len(world.steps_of(steps.ChangeImage)) == 2)
    world.pass_time()
    world.bad_versions = ("3.6.17",)
    world.run()

    assert sorted(str(pod.runs) for pod in world.pods.values()) == ["3.6.16", "3.6.17", "3.6.17"]
    assert all(map(world.alive, world.voters))


def test_it_goes_back_also_if_the_operator_is_killed_right_before() -> None:
    world = a_running_cluster(1)
    world.bad_versions, world.version = ("3.6.17",), "3.6.17"
    world.on_the_brink(of=steps.ChangeImage)
    world.run(until=lambda: bool(world.steps_of(steps.ChangeImage)))
    world.on_the_brink(of=steps.ChangeImage)
    assert world.status.failed_version == "3.6.17"
    world.run()

    assert all(map(world.alive, world.voters))


def test_what_failed_is_tried_again_once_the_version_was_set_to_another() -> None:
    world = a_running_cluster(3)
    world.bad_versions, world.version = ("3.6.17",), "3.6.17"
    world.run()
    world.bad_versions, world.version = (), "3.6.16"
    world.run()
    world.version = "3.6.17"
    world.run()

    assert world.as_wanted()


@pytest.mark.parametrize("claims", [False, True])
def test_a_first_member_that_ends_at_once_is_begun_anew_with_another_version(claims: bool) -> None:
    world = World(size=3, version="3.6.17", claims=claims, bad_versions=("3.6.17",))
    for _ in range(60):
        world.pass_time(world.turn())
    assert world.condition("Ready") == ("False", "Creating")
    world.version = "3.6.16"
    world.run()

    assert world.as_wanted()
    assert world.births == 1


def test_a_first_member_on_a_node_that_is_gone_is_begun_anew_when_its_pod_is_deleted() -> None:
    world = World(size=3)
    world.run(until=lambda: any(pod.node for pod in world.pods.values()))
    seed = world.names[0] if world.members else min(world.pods)
    world.lose_node(world.pods[seed].node)
    for _ in range(20):
        world.pass_time(world.turn())
    world.delete_pod(seed)
    world.run(until=lambda: len(world.voters) == 3, turns=400)

    assert seed not in world.names


@pytest.mark.parametrize("claims", [False, True])
def test_a_second_member_is_not_stopped_before_the_first_has_restarted(claims: bool) -> None:
    """The kubelet takes its time: until then the process of before goes on answering, and the images are all there."""
    world = a_running_cluster(3, claims=claims)
    world.version = "3.6.17"
    stopped = (steps.ChangeImage, steps.DeletePod)
    world.run(until=lambda: bool(world.steps_of(*stopped)))
    for _ in range(20):
        world.turn()
        world.pulls = {name: replace(pull, done=True) for name, pull in world.pulls.items()}

    assert len(world.steps_of(*stopped)) == 1


def test_a_pod_lost_before_its_turn_comes_back_as_it_was() -> None:
    """To 3.7 without a raft snapshot it would not start."""
    world = a_running_cluster(3, claims=True)
    world.version = "3.7.3"
    world.authentication = True
    decided = world.turn()
    assert isinstance(decided.step, steps.SaveRaftSnapshots)
    world.raft_snapshots = False
    world.lose_pod(world.names[0])
    returned = world.turn().step

    assert isinstance(returned, steps.ReturnMember)
    assert str(returned.start.version) == "3.6.16"


def test_members_that_do_not_tell_their_raft_snapshots_are_not_flooded() -> None:
    world = a_running_cluster(3)
    world.version, world.metrics = "3.7.3", False
    for _ in range(10):
        world.pass_time(world.turn())

    assert world.log == []
    assert "metrics" in world.whys[-1]


def test_who_was_given_a_newer_series_is_not_called_back_before_it_has_restarted() -> None:
    """It may run it at any moment, and an older one does not start after that."""
    world = a_running_cluster(1, version="3.5.35")
    world.version = "3.6.16"
    world.run(until=lambda: bool(world.steps_of(steps.ChangeImage)))
    world.version = "3.5.35"
    for _ in range(5):
        world.turn()
        world.pulls = {name: replace(pull, done=True) for name, pull in world.pulls.items()}

    assert len(world.steps_of(steps.ChangeImage)) == 1
    world.run()
    assert world.status.current_version == "3.6.16"


@pytest.mark.parametrize("claims", [False, True])
def test_there_is_time_between_two_members_that_are_restarted(claims: bool) -> None:
    world = a_running_cluster(3, claims=claims)
    world.version = "3.6.17"
    moments: list[datetime] = []
    while len(moments) < 3:
        world.run(until=lambda: len(world.steps_of(steps.ChangeImage, steps.DeletePod)) > len(moments))
        moments.append(world.now)

    assert all(later - earlier >= timedelta(seconds=5) for earlier, later in pairwise(moments))


def test_a_wiped_status_does_not_make_a_silent_member_forget_its_version() -> None:
    """What runs is not what is wanted: nobody has yet said that one may follow the other."""
    world = a_running_cluster(1, version="3.3.27", claims=True)
    world.freeze(world.names[0])
    world.version = "3.7.3"
    world.wipe_status()
    world.turn()
    world.lose_pod(world.names[0])
    returned = world.turn().step

    assert isinstance(returned, steps.ReturnMember)
    assert str(returned.start.version) == "3.3.27"


@pytest.mark.parametrize("claims", [False, True])
def test_no_member_is_stopped_for_an_image_that_does_not_come(claims: bool) -> None:
    world = a_running_cluster(3, claims=claims)
    world.version, world.registry = "3.6.17", False
    world.spend(timedelta(minutes=2))
    assert {type(step) for step in world.log} == {steps.PullImage}
    assert world.condition("Available") == ("True", "Serving")

    world.registry = True
    world.run()
    assert world.as_wanted()
