"""An operator that is killed at any point of anything ends where one ends that was not, with no more changes."""

from __future__ import annotations

import copy
from collections import Counter

import pytest

from etcd_operator.plan import steps
from tests.unit.plan.kills import KILLS
from tests.unit.plan.stories import STORIES
from tests.unit.plan.world import World


def outcome(world: World) -> object:
    """What is left of it all, but for names."""
    pods = Counter((str(pod.version), pod.policy, pod.serving) for pod in world.pods.values())
    claims = len(world.disks)
    conditions = [(each.type, each.status, each.reason) for each in world.status.conditions or ()]
    return len(world.voters), len(world.members), pods, claims, world.pulls, world.status.operation, conditions


def changes(world: World) -> int:
    return len(world.steps_of(steps.AddMember)) + len(world.steps_of(steps.RemoveMember))


@pytest.mark.parametrize("name", STORIES)
def test_it_ends_the_same_wherever_it_is_interrupted(name: str) -> None:
    story = STORIES[name]
    undisturbed = story.told().run()
    assert undisturbed.status.operation is None
    assert undisturbed.condition("Ready") == ("True", "Healthy")
    assert changes(undisturbed) == story.changes
    world, points = story.told(), 0
    for _ in range(600):
        before = copy.deepcopy(world)
        decided = world.turn()
        if not isinstance(decided.step, steps.Wait) or decided.chores or decided.step.seconds == 0:
            points += 1
            for kill in KILLS:
                again = copy.deepcopy(before)
                kill(again, again.decide())
                again.pass_time()
                again.run()
                assert outcome(again) == outcome(undisturbed), f"{kill.__name__} {decided.step.name}"
                assert changes(again) == story.changes, f"{kill.__name__} {decided.step.name}"
        elif decided.step.seconds >= 10:
            break
        world.pass_time(decided)

    assert points > 1
