"""One decision for each way a cluster can be, held against the invariants."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from itertools import combinations_with_replacement, islice

import msgspec
import pytest

from etcd_operator.plan import steps
from etcd_operator.plan.view import Alarm
from tests.unit.plan.vectors import Health, Learning, a_waiting_pod, a_world, healths, operations, wishes
from tests.unit.plan.world import World

FEWER = [each for each in Health if each not in (Health.STUCK, Health.NO_POD, Health.ENDED)]  # the others look alike

SIZES = [(1, False), (1, True), (2, True), (3, False), (3, True), (4, True), (5, False)]  # with or without claims
TWO = [Learning.DONE, Learning.LAGS, Learning.NO_POD]


def decide_and_do(world: World) -> steps.Step:
    """On a copy: what is decided is done, and whatever must hold is asserted while it is."""
    trial = copy.copy(world)
    for _ in range(4):
        decided = trial.decide()
        trial.record(decided)
        if decided.step != steps.Wait(0):
            return _done(trial, decided.step)
    raise AssertionError(f"it only thinks: {decided.why}")


def _done(trial: World, step: steps.Step) -> steps.Step:
    if not isinstance(step, steps.Wait):
        trial.pods = {name: copy.copy(pod) for name, pod in trial.pods.items()}
        trial.members = [copy.copy(member) for member in trial.members]
        trial.disks, trial.pulls, trial.log = dict(trial.disks), dict(trial.pulls), []
        trial.do(step)
    return step


def under_way(world: World) -> Iterator[World]:
    """With each operation; without a quorum few of them make a difference."""
    found = operations(world)
    for operation in found if world.has_quorum() else islice(found, 5):
        world.status = msgspec.structs.replace(world.status, operation=operation)
        if operation is not None and "demo-new" in world.pods:
            out_first = {operation.victim} if operation.name == "Replace" else set()
            world.pods["demo-new"].joins = frozenset({*world.names, "demo-new"} - out_first)
        yield world


@pytest.mark.parametrize(("size", "claims"), SIZES)
def test_no_step_is_wrong_whatever_is_the_matter_and_whatever_is_under_way(size: int, claims: bool) -> None:
    found = set()
    for vector in combinations_with_replacement(Health if size < 4 else FEWER, size):
        world = a_world(vector, claims=claims)
        found |= {decide_and_do(each).name for each in under_way(world)}
        a_waiting_pod(world, "demo-new")
        world.size = size + 1
        found |= {decide_and_do(each).name for each in under_way(world)}

    assert {"Wait", "StartMembers", "AddMember"} <= found
    assert size < 3 or {"RemoveMember", "DeletePod"} <= found


@pytest.mark.parametrize("claims", [False, True])
def test_no_step_is_wrong_whatever_is_wanted(claims: bool) -> None:
    found = set()
    for vector in healths(largest=3):
        world = a_world(vector, claims=claims)
        found |= {decide_and_do(world).name for _ in wishes(world)}

    assert {"Wait", "StartMembers", "PullImage", "RemoveMember"} <= found


@pytest.mark.parametrize("waiting", [False, True])
def test_no_step_is_wrong_with_learners_under_way(waiting: bool) -> None:
    found = set()
    vectors = [*combinations_with_replacement(Health, 1), *combinations_with_replacement(FEWER, 3)]
    for vector in vectors:
        for learning in (*combinations_with_replacement(Learning, 1), *combinations_with_replacement(TWO, 2)):
            world = a_world(vector, learning, claims=not waiting)
            world.size = len(world.members) + waiting
            if not world.has_quorum():
                continue
            if waiting:
                a_waiting_pod(world, "demo-new")
            found |= {decide_and_do(each).name for each in under_way(world)}

    assert {"AddMember" if waiting else "PromoteLearner", "RemoveMember"} <= found


@pytest.mark.parametrize("version", ["3.2.13", "3.3.27"])
def test_no_step_is_wrong_where_there_are_no_learners(version: str) -> None:
    for vector in healths(largest=3):
        world = a_world(vector, version=version)
        a_waiting_pod(world, "demo-new")
        for each in under_way(world):
            if each.status.operation is None or each.status.operation.version is None:
                decide_and_do(each)


@pytest.mark.parametrize("kind", ["NOSPACE", "CORRUPT"])
def test_no_step_is_wrong_under_an_alarm(kind: str) -> None:
    for vector in healths(largest=3):
        world = a_world(vector)
        world.alarms = (Alarm(0, kind),)
        a_waiting_pod(world, "demo-new")
        for each in under_way(world):
            decide_and_do(each)


def test_nobody_is_given_up_while_the_operator_may_be_cut_off() -> None:
    for vector in healths(largest=3):
        world = a_world(vector)
        world.alone = True
        a_waiting_pod(world, "demo-new")
        for each in under_way(world):
            decide_and_do(each)
