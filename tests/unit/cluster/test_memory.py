from __future__ import annotations

from etcd_operator.cluster.memory import LONGEST_REST, REFUSALS, REPEATS, Memory
from etcd_operator.plan.steps import DeletePod, SaveRaftSnapshots


def test_a_step_is_followed_by_the_next_look_at_once() -> None:
    memory = Memory()
    steps = [DeletePod("a", "1"), DeletePod("b", "2"), DeletePod("a", "1")] * 5

    assert {memory.taken(step) for step in steps} == {0.0}


def test_a_step_that_changes_nothing_is_repeated_ever_more_slowly() -> None:
    memory = Memory()
    rests = [memory.taken(SaveRaftSnapshots()) for _ in range(REPEATS + 20)]

    assert rests[:REPEATS] == [0.0] * REPEATS
    assert rests[REPEATS:] == sorted(rests[REPEATS:])
    assert (rests[REPEATS] > 0, rests[-1]) == (True, LONGEST_REST)

    memory.waited()
    assert memory.taken(SaveRaftSnapshots()) == 0.0


def test_a_refusal_is_asked_about_often_at_first_and_then_ever_more_slowly() -> None:
    memory = Memory()
    rests = [memory.refused("UnhealthyCluster") for _ in range(REFUSALS + 20)]

    assert sum(rests[:REFUSALS]) > 5, "etcd refuses the next change for five seconds"
    assert max(rests[:REFUSALS]) < 1
    assert rests[-1] == LONGEST_REST
    assert memory.refused("NameTaken") == rests[0]
