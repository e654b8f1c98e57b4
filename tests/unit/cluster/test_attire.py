from __future__ import annotations

import json

from etcd_operator.api.names import GROUP
from etcd_operator.cluster import attire
from etcd_operator.kube.objects import Metadata
from tests.unit.cluster.clusters import FIRST, a_cluster

PLAIN = a_cluster()
DRESSED = a_cluster(pod={"labels": {"team": "blue"}, "annotations": {"note": "x"}})


def worn(cluster: object, **more: str) -> Metadata:
    assert cluster is PLAIN or cluster is DRESSED
    found = DRESSED if cluster is DRESSED else PLAIN
    return Metadata(
        name=FIRST,
        uid="u",
        labels={"app": "etcd", **attire.their_labels(found, FIRST), **more},
        annotations={"theirs": "stays", **attire.their_annotations(found), **attire.note(found, FIRST)},
    )


def test_a_pod_that_wears_what_is_wanted_is_left_alone() -> None:
    assert attire.change(DRESSED, worn(DRESSED)) is None
    assert attire.change(PLAIN, worn(PLAIN)) is None


def test_what_is_new_in_the_spec_comes_on() -> None:
    change = attire.change(DRESSED, worn(PLAIN))

    assert change is not None
    assert change["metadata"]["labels"] == {"team": "blue"}
    assert change["metadata"]["annotations"]["note"] == "x"
    assert change["metadata"]["uid"] == "u"


def test_what_was_taken_out_of_the_spec_goes_and_nothing_else() -> None:
    change = attire.change(PLAIN, worn(DRESSED, other="by somebody"))

    assert change == {
        "metadata": {"uid": "u", "labels": {"team": None}, "annotations": {"note": None, attire.WORN: None}}
    }


def test_what_is_the_operators_cannot_be_worn() -> None:
    greedy = a_cluster(pod={"labels": {"app": "mine"}, "annotations": {"etcd.version": "9", f"{GROUP}/identity": "me"}})

    assert attire.their_labels(greedy, FIRST) == {}
    assert attire.their_annotations(greedy) == {}


def test_a_note_that_makes_no_sense_takes_nothing_away() -> None:
    odd = Metadata(name=FIRST, uid="u", labels={"app": "etcd"}, annotations={attire.WORN: '{"labels": 5}'})

    assert attire.change(PLAIN, odd) == {"metadata": {"uid": "u", "annotations": {attire.WORN: None}}}


def test_a_note_that_names_what_is_the_operators_takes_nothing_of_it_away() -> None:
    note = json.dumps({"labels": ["app", "team"], "annotations": [f"{GROUP}/identity", "etcd.version", "note"]})
    annotations = {attire.WORN: note, f"{GROUP}/identity": "me", "etcd.version": "3.6.16", "note": "x"}
    pod = Metadata(name=FIRST, uid="u", labels={"app": "etcd", "team": "blue"}, annotations=annotations)

    assert attire.change(PLAIN, pod) == {
        "metadata": {"uid": "u", "labels": {"team": None}, "annotations": {"note": None, attire.WORN: None}}
    }
