"""Random histories: whatever happened, when it is over the cluster is as wanted, and stays so."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from etcd_operator.plan import steps
from tests.unit.plan import faults
from tests.unit.plan.kills import KILLS
from tests.unit.plan.world import World, a_running_cluster

FAULTS = (
    faults.lose_pod,
    faults.delete_pod,
    faults.freeze,
    faults.thaw,
    faults.wipe_disk,
    faults.delete_claim,
    faults.lose_node,
    faults.return_node,
    faults.wipe_status,
    faults.no_room,
    faults.room_again,
    faults.pause,
    faults.resume,
    faults.resize,
    faults.change_version,
    faults.change_policy,
    faults.remove_member,
    faults.add_learner,
    faults.add_voter,
    faults.bad_image,
    None,  # the operator itself is killed
)
EVENTS = st.tuples(st.sampled_from(FAULTS), st.integers(0, 5), st.sampled_from((1, 2, 5, 20, 80, 400)))
GENTLE = st.tuples(
    st.sampled_from((faults.delete_pod, faults.wipe_status, faults.pause, faults.resume, None)),
    st.integers(0, 5),
    st.sampled_from((1, 2, 5, 20)),
)


def live(world: World, events: list[tuple[faults.Fault | None, int, int]]) -> None:
    for fault, number, turns in events:
        if fault is None:
            KILLS[number % len(KILLS)](world, world.decide())
            world.pass_time()
        else:
            fault(world, number)
        for _ in range(turns):
            world.pass_time(world.turn())
    faults.end(world)
    for _ in range(5):
        world.pass_time(world.turn())


def settled(world: World) -> None:
    """Quiet, and quiet still when it is looked at again and again."""
    world.run(turns=6000)
    done = list(world.log)
    for _ in range(20):
        world.pass_time(world.turn())
    assert world.log == done


def reached(world: World) -> bool:
    return world.as_wanted() or (world.as_sized() and world.condition("Ready") == ("False", "InvalidSpec"))


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    size=st.sampled_from((1, 3, 5)),
    version=st.sampled_from(("3.6.16", "3.5.35", "3.3.27")),
    claims=st.booleans(),
    events=st.lists(EVENTS, max_size=12),
)
def test_a_cluster_outlives_its_history(
    size: int, version: str, claims: bool, events: list[tuple[faults.Fault | None, int, int]]
) -> None:
    world = a_running_cluster(size, version=version, claims=claims)
    world.careful = False
    live(world, events)

    if world.beyond_help():
        for _ in range(60):
            world.pass_time(world.turn())
        return
    settled(world)
    assert reached(world), world.whys[-4:]


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(size=st.sampled_from((1, 3, 5)), claims=st.just(True), events=st.lists(GENTLE, max_size=12))
def test_what_destroys_nothing_costs_no_member(
    size: int, claims: bool, events: list[tuple[faults.Fault | None, int, int]]
) -> None:
    world = a_running_cluster(size, claims=claims)
    before = world.names
    live(world, events)
    settled(world)

    assert world.names == before
    assert not world.steps_of(steps.AddMember, steps.RemoveMember)
