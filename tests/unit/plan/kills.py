"""Where an operator can be killed within a turn. The status is always written first."""

from __future__ import annotations

from etcd_operator.plan.decision import Plan
from tests.unit.plan import deeds
from tests.unit.plan.world import World


def killed_before_it_did_anything(world: World, decided: Plan) -> None:
    world.record(decided)


def killed_before_the_step(world: World, decided: Plan) -> None:
    world.record(decided)
    for chore in decided.chores:
        deeds.tidy(world, chore)


def killed_before_the_chores(world: World, decided: Plan) -> None:
    """They are done at the same time as each other, and a step that was begun is brought to its end."""
    world.record(decided)
    for chore in decided.chores[:1]:
        deeds.tidy(world, chore)
    world.do(decided.step)


KILLS = (killed_before_it_did_anything, killed_before_the_step, killed_before_the_chores)
