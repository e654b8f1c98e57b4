from __future__ import annotations

import pytest

from etcd_operator.cluster.inquiry import Heard
from etcd_operator.cluster.isolation import WINDOW, Silences
from etcd_operator.cluster.observe import witnesses
from etcd_operator.kube.store import Key
from etcd_operator.plan.view import Body, Silence, Stage
from tests.unit.cluster.views import a_view

A, B, C = (Key("prod", name) for name in "abc")


@pytest.mark.parametrize(
    ("rounds", "alone"),
    [
        ({}, False),
        ({A: (3, 3)}, False),
        ({A: (3, 3), B: (3, 0)}, False),
        ({A: (3, 1), B: (3, 1)}, False),
        ({A: (3, 1), B: (3, 2)}, True),
        ({A: (3, 3), B: (1, 1), C: (7, 0)}, True),
        ({A: (3, 1), B: (1, 1), C: (7, 0)}, False),
    ],
)
def test_the_operator_is_alone_when_many_members_of_several_clusters_are_silent(
    rounds: dict[Key, tuple[int, int]], alone: bool
) -> None:
    silences = Silences(lambda: 0.0)
    for key, (asked, silent) in rounds.items():
        silences.note(key, asked=asked, silent=silent)

    assert silences.alone is alone


RUNS = Body(name="demo-a", uid="1", stage=Stage.STARTED, running=True)
CRASHES = Body(name="demo-b", uid="2", stage=Stage.STARTED)


def test_only_a_member_that_runs_and_is_not_heard_tells_of_the_way_to_it() -> None:
    mute = Silence("no answer")
    view = a_view(bodies={"demo-a": RUNS, "demo-b": CRASHES})

    assert witnesses(view, Heard(answers={"demo-a": mute, "demo-b": mute})) == [mute]


def test_a_cluster_that_cannot_be_asked_or_lets_nobody_in_tells_nothing_of_others() -> None:
    view = a_view(bodies={"demo-a": RUNS})

    assert witnesses(view, Heard(no_roster="Secret operator-tls is not there.")) == []
    assert witnesses(view, Heard(answers={"demo-a": Silence("user name is empty")}, unauthorized="no user")) == []


def test_a_cluster_is_remembered_for_its_silence_until_it_answers() -> None:
    silences = Silences(lambda: 0.0)
    silences.note(A, asked=3, silent=1)
    assert (silences.any_in(A), silences.any_in(B)) == (True, False)

    silences.note(A, asked=3, silent=0)
    assert not silences.any_in(A)


def test_what_was_heard_long_ago_or_of_a_cluster_that_is_gone_does_not_count() -> None:
    now = 0.0
    silences = Silences(lambda: now)
    found = []
    for key in (A, B):
        silences.note(key, asked=3, silent=3)
    found.append(silences.alone)

    silences.forget(B)
    found.append(silences.alone)

    silences.note(B, asked=3, silent=3)
    found.append(silences.alone)

    now = WINDOW + 1
    found.append(silences.alone)
    assert found == [True, False, True, False]
