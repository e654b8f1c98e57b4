"""When a member that says nothing is given up, and when it is not."""

from __future__ import annotations

from datetime import timedelta

import pytest

from etcd_operator.plan import steps
from etcd_operator.plan.view import Alarm
from tests.unit.plan.world import a_running_cluster


def test_two_silent_members_are_given_up_with_time_between() -> None:
    world = a_running_cluster(5)
    first, second = world.names[:2]
    world.freeze(first)
    world.freeze(second)
    world.run(until=lambda: len(world.members) == 4)
    begin = world.now
    world.run(until=lambda: first not in world.names and second not in world.names)

    assert world.now - begin >= timedelta(minutes=10)
    world.run()
    assert len(world.voters) == 5


def test_a_lost_member_does_not_wait_for_the_time_after_a_silent_one() -> None:
    world = a_running_cluster(5)
    frozen, lost = world.names[:2]
    world.freeze(frozen)
    world.run(until=lambda: frozen not in world.names)
    world.run()
    begin = world.now
    world.lose_pod(lost)
    world.run(until=lambda: lost not in world.names)

    assert world.now - begin < timedelta(minutes=1)


def test_nobody_is_given_up_while_the_operator_may_be_cut_off() -> None:
    world = a_running_cluster(3)
    world.freeze(world.names[0])
    world.alone = True
    world.spend(timedelta(minutes=12))

    assert world.steps_of(steps.RemoveMember) == []


def test_a_replacement_that_was_begun_waits_while_the_operator_may_be_cut_off() -> None:
    world = a_running_cluster(3)
    frozen = world.names[0]
    world.freeze(frozen)
    world.full = True
    world.spend(timedelta(minutes=6))
    assert world.status.operation
    world.alone, world.full = True, False
    world.spend(timedelta(minutes=2))
    assert frozen in world.names

    world.alone = False
    world.run()
    assert frozen not in world.names


def test_a_silent_member_is_kept_while_nobody_can_take_its_place() -> None:
    """Its disk is whole: with a pod that finds no node it would be thrown away for nothing."""
    world = a_running_cluster(3, claims=True)
    frozen = world.names[0]
    world.freeze(frozen)
    world.full = True
    world.spend(timedelta(minutes=12))
    assert frozen in world.names
    world.thaw(frozen)
    world.full = False
    world.run()

    assert world.steps_of(steps.RemoveMember, steps.AddMember) == []
    assert len(world.pods) == 3


@pytest.mark.parametrize("claims", [False, True])
def test_a_member_whose_place_cannot_be_taken_keeps_no_other_from_being_healed(claims: bool) -> None:
    world = a_running_cluster(5, claims=claims)
    frozen, lost = world.names[:2]
    world.freeze(frozen)
    world.full = True
    world.spend(timedelta(minutes=6))
    world.wipe(lost)
    world.run(until=lambda: lost not in world.names, turns=400)

    assert frozen in world.names


def test_a_member_that_lost_its_pod_in_a_long_pause_gets_its_time_after_it() -> None:
    world = a_running_cluster(3, claims=True)
    before = world.names
    world.paused = True
    world.lose_pod(before[0])
    world.spend(timedelta(minutes=20))
    world.paused = False
    world.run()

    assert world.names == before
    assert [type(step) for step in world.log] == [steps.ReturnMember]


def test_a_member_that_answers_for_a_moment_is_waited_for_anew() -> None:
    world = a_running_cluster(3)
    frozen = world.names[0]
    world.freeze(frozen)
    world.full = True
    world.spend(timedelta(minutes=6))
    world.thaw(frozen)
    world.turn()
    world.freeze(frozen)
    world.full = False
    world.spend(timedelta(minutes=4))

    assert frozen in world.names


def test_a_victim_that_freezes_is_removed_all_the_same() -> None:
    world = a_running_cluster(5)
    world.size = 4
    world.turn()
    operation = world.status.operation
    assert operation
    assert operation.victim
    world.freeze(operation.victim)
    world.run(until=lambda: len(world.members) == 4, turns=20)

    assert operation.victim not in world.names


def test_the_victim_of_a_roll_that_is_lost_is_replaced_by_who_was_to_follow_it() -> None:
    world = a_running_cluster(3)
    world.policy = "p2"
    world.turn()
    operation = world.status.operation
    assert operation
    world.lose_pod(operation.victim or "")
    world.run()

    assert len(world.voters) == 3
    assert (operation.members or ("",))[0] in world.names
    assert len(world.steps_of(steps.AddMember)) == 3


def test_a_joiner_with_a_vote_already_is_replaced_while_others_still_join() -> None:
    world = a_running_cluster(3, version="3.5.35")
    before = world.names
    world.size = 5
    world.run(until=lambda: len(world.voters) == 4)
    lost = next(name for name in world.names if name not in before)
    world.lose_pod(lost)
    world.run()

    assert len(world.voters) == 5
    assert lost not in world.names


def test_a_learner_of_a_replacement_is_not_forgotten_when_another_member_is_lost() -> None:
    """On 3.5 there may be one learner only, and a forgotten one would keep out all others."""
    world = a_running_cluster(5, version="3.5.35")
    first, second = world.names[:2]
    world.lose_pod(first)
    world.run(until=lambda: any(member.learner for member in world.members))
    world.lose_pod(second)
    world.run()

    assert len(world.voters) == 5


def test_a_lost_member_is_replaced_while_the_quota_is_used_up() -> None:
    world = a_running_cluster(3)
    world.alarms = (Alarm(0, "NOSPACE"),)
    world.lose_pod(world.names[0])
    world.run()

    assert len(world.voters) == 3


def test_nobody_is_added_while_data_is_in_doubt() -> None:
    world = a_running_cluster(3)
    world.alarms = (Alarm(0, "CORRUPT"),)
    world.lose_pod(world.names[0])
    world.spend(timedelta(minutes=8))

    assert world.steps_of(steps.AddMember) == []
    assert "CORRUPT" in world.whys[-1]


@pytest.mark.parametrize("kind", ["NOSPACE", "CORRUPT"])
def test_nothing_is_begun_under_an_alarm(kind: str) -> None:
    world = a_running_cluster(3)
    world.alarms = (Alarm(0, kind),)
    world.size, world.version, world.policy = 5, "3.6.17", "p2"
    for _ in range(20):
        world.pass_time(world.turn())

    assert world.log == []
