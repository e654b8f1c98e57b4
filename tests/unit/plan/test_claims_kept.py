from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest

from etcd_operator.plan.ladder import plan
from etcd_operator.plan.refusal import Refusal
from etcd_operator.plan.steps import OwnClaim
from etcd_operator.plan.view import View
from tests.unit.plan.world import World, a_running_cluster


def retained(world: World, **changes: object) -> View:
    view = world.view()
    spec = msgspec.structs.replace(view.cluster.spec, deletion_policy="Retain", **changes)
    return replace(view, cluster=msgspec.structs.replace(view.cluster, spec=spec))


def owned_no_more(view: View) -> set[str]:
    return {chore.member for chore in plan(view).chores if isinstance(chore, OwnClaim) and not chore.owned}


@pytest.mark.parametrize("paused", [False, True])
@pytest.mark.parametrize("lost", [False, True])
def test_claims_that_are_to_be_kept_lose_their_owner_whatever_the_state(*, paused: bool, lost: bool) -> None:
    world = a_running_cluster(3, claims=True)
    view = retained(world, paused=paused)
    view = replace(view, roster=None, answers={}) if lost else view

    assert owned_no_more(view) == set(world.names)


def test_a_name_that_is_taken_does_not_hide_a_lost_majority() -> None:
    world = a_running_cluster(3)
    view = replace(world.view(), roster=None, answers={}, problems=(Refusal("NameTaken", "demo is another's."),))

    assert plan(view).status.phase == "Failed"
