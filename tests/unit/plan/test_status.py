from __future__ import annotations

from datetime import timedelta

import msgspec

from etcd_operator.api.cluster import MemberStatus
from etcd_operator.plan import steps
from etcd_operator.plan.refusal import Refusal
from tests.unit.plan.world import World, a_running_cluster


def test_a_paused_cluster_without_a_majority_is_not_called_running() -> None:
    world = a_running_cluster(3)
    world.paused = True
    for name in world.names[:2]:
        world.freeze(name)
    world.turn()

    assert world.status.phase == "Failed"
    assert world.condition("Available") == ("False", "QuorumLost")
    assert world.condition("Ready") == ("False", "Paused")


def test_a_cluster_that_cannot_be_asked_is_not_called_lost() -> None:
    world = a_running_cluster(3)
    world.problems = (Refusal("SecretMissing", "Secret demo-client is not there."),)
    for name in world.names:
        world.freeze(name)
    world.turn()

    assert world.status.phase == "Running"
    assert world.condition("Available") == ("Unknown", "Unreachable")
    assert world.condition("Ready") == ("False", "Unreachable")
    assert "QuorumLost" not in world.events


def test_what_keeps_the_operator_from_its_work_is_told_of_a_healthy_cluster_too() -> None:
    world = a_running_cluster(3)
    world.problems = (Refusal("NameTaken", "Service demo belongs to somebody else."),)
    world.turn()

    assert world.condition("Ready") == ("False", "Degraded")
    assert world.condition("Available") == ("True", "Serving")


def test_a_member_that_the_operator_stops_itself_is_no_reason_for_a_warning() -> None:
    world = a_running_cluster(3, claims=True)
    world.version, world.policy = "3.6.17", "p2"
    world.run()

    assert "MemberUnhealthy" not in world.events


def test_the_version_that_was_chosen_once_stays() -> None:
    world = World(version="").run()
    chosen = world.status.resolved_version
    world.status = msgspec.structs.replace(world.status, resolved_version=None)
    world.run()

    assert world.status.resolved_version == chosen == world.status.current_version


def test_whoever_stops_naming_a_version_keeps_the_one_that_runs() -> None:
    world = World(version="").run()
    world.version = "3.7.3"
    world.run()
    world.version = ""
    world.run()

    assert world.status.current_version == world.status.resolved_version == "3.7.3"
    assert world.condition("Ready") == ("True", "Healthy")


def test_a_member_that_is_slow_under_its_leader_is_told_of_and_kept() -> None:
    world = a_running_cluster(3)
    world.slow = {world.names[0]}
    world.spend(timedelta(minutes=12))

    assert world.log == []
    assert world.condition("Degraded") == ("True", "MembersMissing")


def test_a_member_that_is_cut_off_from_its_leader_is_given_up() -> None:
    world = a_running_cluster(3)
    cut_off = world.names[0]
    world.cut_off = {cut_off}
    world.run(until=lambda: cut_off not in world.names)

    assert len(world.steps_of(steps.RemoveMember)) == 1


def test_the_step_of_an_operation_stands_in_it() -> None:
    world = a_running_cluster(3)
    world.size = 5
    world.turn()

    assert world.status.operation
    assert world.status.operation.step == "StartMembers"


def test_who_was_named_is_still_known_while_no_list_can_be_had() -> None:
    world = a_running_cluster(3, claims=True)
    before = {member.name: member.version for member in world.status.member_list or ()}
    for name in world.names:
        world.lose_pod(name)
    world.full = True
    world.spend(timedelta(seconds=30))
    after: tuple[MemberStatus, ...] = world.status.member_list or ()

    assert {member.name: member.version for member in after} == before
    assert all(member.silent_since for member in after)


def test_a_size_out_of_bounds_is_taken_for_what_it_can_mean() -> None:
    world = World(size=7).run()
    world.size = 9
    world.run()

    assert len(world.voters) == 7
