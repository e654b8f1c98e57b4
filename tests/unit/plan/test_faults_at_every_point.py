"""Each thing an operator does, with each thing that can happen, at each moment of it."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from datetime import timedelta

import pytest

from etcd_operator.plan import steps
from tests.unit.plan import faults
from tests.unit.plan.stories import STORIES
from tests.unit.plan.world import World

FAULTS = (
    faults.lose_pod,
    faults.delete_pod,
    faults.freeze,
    faults.wipe_disk,
    faults.delete_claim,
    faults.lose_node,
    faults.wipe_status,
    faults.no_room,
    faults.pause,
    faults.add_learner,
)
SOME_STORIES = (
    "bootstrap of 3.5",
    "1 to 3 of 3.3",
    "3 to 5",
    "replace",
    "replace on claims",
    "roll of one",
    "upgrade on claims",
)
AT_MOST = 2  # moments of each


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
@pytest.mark.parametrize("name", SOME_STORIES)
def test_it_heals_whatever_happens_meanwhile(name: str, fault: faults.Fault) -> None:
    moments = list(eventful(STORIES[name].told()))
    assert moments
    for number, world in enumerate(moments[:: -(-len(moments) // AT_MOST)]):
        fault(world, number)
        heals(world)


def eventful(world: World) -> Iterator[World]:
    """As it is right after each step."""
    for _ in range(600):
        decided = world.turn()
        if not isinstance(decided.step, steps.Wait):
            yield copy.deepcopy(world)
        elif decided.step.seconds >= 10:
            return
        world.pass_time(decided)


def heals(world: World) -> None:
    """Six minutes of it, then it is over; whoever has kept a majority of its disks is as wanted after that."""
    world.spend(timedelta(minutes=6))
    faults.end(world)
    for _ in range(5):
        world.pass_time(world.turn())
    if world.beyond_help():
        for _ in range(40):
            world.pass_time(world.turn())
        return
    world.run(turns=5000)
    assert world.as_wanted(), world.whys[-6:]
