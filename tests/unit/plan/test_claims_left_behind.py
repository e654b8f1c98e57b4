from __future__ import annotations

from datetime import timedelta

from etcd_operator.plan import steps
from tests.unit.plan.world import a_running_cluster


def test_the_claims_of_two_members_lost_one_after_the_other_are_both_deleted() -> None:
    world = a_running_cluster(5, claims=True)
    first, second = world.names[:2]
    world.wipe(first)
    world.run(until=lambda: first not in world.names)
    world.wipe(second)
    world.run()

    assert len(world.voters) == 5
    assert set(world.disks) == set(world.names)


def test_the_claim_of_a_member_that_went_while_another_was_lost_is_deleted_in_the_end() -> None:
    world = a_running_cluster(5, claims=True)
    world.size = 3
    world.run(until=lambda: len(world.members) == 4)
    world.wipe(world.names[0])
    world.run()

    assert set(world.disks) == set(world.names)


def test_the_claim_of_a_learner_that_is_taken_back_goes_with_it() -> None:
    world = a_running_cluster(3, claims=True)
    world.size = 5
    world.run(until=lambda: any(member.learner and world.alive(member) for member in world.members))
    world.pass_time(world.turn())
    world.size = 3
    world.run()

    assert set(world.disks) == set(world.names)
    assert not world.status.discarded


def test_no_claim_is_deleted_while_a_member_is_silent() -> None:
    world = a_running_cluster(5, claims=True)
    before = set(world.names)
    world.size = 4
    world.run(until=lambda: len(world.members) == 4)
    (removed,) = before - set(world.names)
    world.freeze(world.names[0])
    world.spend(timedelta(minutes=4))
    assert removed in world.disks

    world.thaw(world.names[0])
    world.run()
    assert removed not in world.disks


def test_a_member_that_was_nearly_removed_keeps_its_claim_when_a_person_removes_it_later() -> None:
    world = a_running_cluster(5, claims=True)
    world.size = 4
    step = world.on_the_brink(of=steps.RemoveMember).step
    assert isinstance(step, steps.RemoveMember)
    victim = step.member
    world.size = 5
    world.run()
    assert victim in world.names
    world.remove_by_hand(victim)
    world.run()

    assert victim in world.disks
    assert len(world.voters) == 5


def test_a_member_removed_long_ago_is_not_started_again_when_the_majority_is_missing() -> None:
    world = a_running_cluster(3, claims=True)
    gone = world.names[0]
    world.remove_by_hand(gone)
    world.run()
    world.log.clear()
    for name in world.names[:2]:
        world.freeze(name)
    for _ in range(30):
        world.pass_time(world.turn())

    assert gone in world.disks
    assert world.log == []


def test_claims_alone_tell_that_a_cluster_has_lived() -> None:
    """Status and annotation are gone, as after a restore of the object from a manifest."""
    world = a_running_cluster(3, claims=True)
    before = world.names
    for name in before:
        world.lose_pod(name)
    world.wipe_status()
    world.born = False
    world.run()

    assert world.names == before
    assert world.births == 1
    assert {type(step) for step in world.log} == {steps.ReturnMember}
