from __future__ import annotations

from typing import Any

import msgspec
import pytest

from etcd_operator.cluster.bodies import body_of
from etcd_operator.cluster.surroundings import APPLIED, Fitting, budget, fits, misled, services, taken
from etcd_operator.kube.objects import Metadata, PartialObject
from tests.unit.cluster.clusters import CLAIM, UID, a_cluster
from tests.unit.cluster.pods import a_pod

ON_CLAIM = {"volumes": [{"persistentVolumeClaim": {"claimName": "demo-a"}}]}


def stored(fitting: Fitting, **metadata: Any) -> PartialObject:
    """As the API server has it after it was applied."""
    return msgspec.convert({"metadata": {**fitting.manifest["metadata"], "uid": "s-1", **metadata}}, PartialObject)


def test_both_services_are_there_with_a_digest_of_what_was_applied() -> None:
    found = services(a_cluster())

    assert [str(fitting) for fitting in found] == ["Service demo", "Service demo-client"]
    assert all(fits(stored(fitting), fitting, uid=UID) for fitting in found)


def test_an_object_made_of_another_spec_or_by_nobody_fits_no_more() -> None:
    before, now = (budget(a_cluster(size=size), voters=size, bodies={}) for size in (3, 5))

    assert fits(stored(now), now, uid=UID)
    assert not fits(stored(before), now, uid=UID)
    assert not fits(stored(now, annotations={}), now, uid=UID)
    assert not fits(None, now, uid=UID)


def test_a_new_size_leaves_the_services_alone() -> None:
    before, now = services(a_cluster(size=3)), services(a_cluster(size=5))

    assert [fitting.digest for fitting in before] == [fitting.digest for fitting in now]


def test_an_object_of_another_cluster_is_not_ours_even_if_it_is_the_same() -> None:
    fitting = services(a_cluster())[0]

    assert not fits(stored(fitting), fitting, uid="another")


@pytest.mark.parametrize(("spec", "needed"), [(ON_CLAIM, 0), ({}, 1)])
def test_a_single_member_may_be_evicted_if_it_really_is_on_a_claim(spec: Any, needed: int) -> None:
    bodies = {"demo-a": body_of(a_pod(spec=spec))}
    wish = a_cluster(size=1, pod={"persistentVolumeClaimSpec": CLAIM})

    assert budget(wish, voters=1, bodies=bodies).manifest["spec"]["minAvailable"] == needed


def test_a_name_that_is_taken_is_told_with_whose_it_is_and_what_to_do() -> None:
    fitting = services(a_cluster())[1]
    found = stored(fitting, namespace="prod", ownerReferences=[{"kind": "Deployment", "name": "web", "uid": "d"}])

    refusal = taken(found, fitting)

    assert refusal.reason == "NameTaken"
    assert "Service demo-client is there already and belongs to Deployment web" in refusal.sentence
    assert "kubectl delete service demo-client -n prod" in refusal.sentence
    assert "somebody else" in taken(stored(fitting, ownerReferences=[]), fitting).sentence


def test_a_pod_that_clients_would_be_led_to_is_told_with_what_to_do() -> None:
    labels = {"app": "etcd", "etcd_cluster": "demo"}
    refusal = misled(Metadata(name="demo-left-behind", namespace="prod", labels=labels))

    assert refusal.reason == "PodsTaken"
    assert "Pod demo-left-behind has the labels app=etcd and etcd_cluster=demo" in refusal.sentence
    assert "kubectl delete pod demo-left-behind -n prod" in refusal.sentence


def test_what_the_digest_is_about_does_not_hold_the_digest() -> None:
    fitting = services(a_cluster())[0]

    assert APPLIED in fitting.manifest["metadata"]["annotations"]
    assert fitting.manifest["metadata"]["annotations"].keys() > {APPLIED}
