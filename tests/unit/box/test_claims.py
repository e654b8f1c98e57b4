"""What the provisioner decides for a claim and its volume."""

from __future__ import annotations

from typing import Any

import pytest

from box.kube.api import Object
from box.volume.claims import Grow, Make, Refuse, Remove, decide, grown_status, node_of, persistent_volume, volume_name
from box.volume.volumes import KINDS

LOCAL, SIZED = KINDS


def a_claim(*, kind: str = SIZED.provisioner, node: str = "w1", size: str = "64Mi", **spec: Any) -> Object:
    annotations = {"volume.kubernetes.io/storage-provisioner": kind}
    if node:
        annotations["volume.kubernetes.io/selected-node"] = node
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {
            "name": "data",
            "namespace": "default",
            "uid": "1234",
            "resourceVersion": "7",
            "annotations": annotations,
        },
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "box-sized",
            "resources": {"requests": {"storage": size}},
            **spec,
        },
        "status": {"phase": "Pending"},
    }


def a_bound_claim(*, capacity: str, size: str) -> Object:
    status = {"phase": "Bound", "capacity": {"storage": capacity}}
    return a_claim(size=size, volumeName="pvc-1234") | {"status": status}


def a_volume(*, phase: str = "Bound", policy: str = "Delete", kind: str = SIZED.provisioner) -> Object:
    claim = a_claim(kind=kind)
    made = next(known for known in KINDS if known.provisioner == kind)
    volume = persistent_volume(Make(claim=claim, kind=made, node="w1", size="64Mi"), reclaim=policy)
    return volume | {"status": {"phase": phase}}


def test_a_claim_with_a_chosen_node_gets_a_volume_there() -> None:
    step = decide(a_claim(node="w2", size="1.5Gi"), None)

    assert isinstance(step, Make)
    assert (step.node, step.kind, step.bytes) == ("w2", SIZED, 3 << 29)


@pytest.mark.parametrize(
    "claim",
    [
        a_claim(node=""),
        a_claim(kind="rancher.io/local-path"),
        a_claim(volumeName="pvc-1234"),
        a_claim() | {"metadata": a_claim()["metadata"] | {"deletionTimestamp": "now"}},
        a_claim() | {"metadata": {"name": "data", "uid": "1"}},
    ],
    ids=["no node chosen yet", "of another provisioner", "bound already", "being deleted", "without annotations"],
)
def test_a_claim_is_left_alone(claim: Object) -> None:
    assert decide(claim, None) is None


@pytest.mark.parametrize(
    ("claim", "words"),
    [
        (a_claim(size="4Mi"), "box-sized volumes have at least 16Mi, and the claim asks for 4Mi."),
        (a_claim(volumeMode="Block"), "volumeMode Block"),
        (a_claim(dataSource={"kind": "VolumeSnapshot", "name": "x"}), "dataSource"),
        (a_claim(selector={"matchLabels": {}, "matchExpressions": []}), "selector"),
    ],
)
def test_what_cannot_be_made_is_refused_with_the_reason(claim: Object, words: str) -> None:
    step = decide(claim, None)

    assert isinstance(step, Refuse)
    assert words in step.why


def test_a_plain_directory_may_be_as_small_as_one_likes() -> None:
    assert isinstance(decide(a_claim(kind=LOCAL.provisioner, size="1"), None), Make)


def test_a_claim_whose_volume_exists_needs_nothing() -> None:
    assert decide(a_claim(), a_volume(phase="Available")) is None
    assert decide(a_bound_claim(capacity="64Mi", size="64Mi"), a_volume()) is None


def test_a_bound_claim_that_asks_for_more_grows() -> None:
    step = decide(a_bound_claim(capacity="64Mi", size="128Mi"), a_volume())

    assert isinstance(step, Grow)
    assert (step.node, step.size, step.bytes) == ("w1", "128Mi", 128 << 20)


def test_the_same_size_in_other_words_is_no_growth() -> None:
    assert decide(a_bound_claim(capacity="1Gi", size="1024Mi"), a_volume()) is None


def test_a_released_volume_is_removed() -> None:
    step = decide(None, a_volume(phase="Released"))

    assert isinstance(step, Remove)
    assert step.node == "w1"


def test_a_released_volume_is_kept_if_its_policy_says_so() -> None:
    assert decide(None, a_volume(phase="Released", policy="Retain")) is None


@pytest.mark.parametrize("phase", ["Pending", "Available", "Bound", "Failed"])
def test_a_volume_that_is_not_released_is_never_removed(phase: str) -> None:
    assert decide(None, a_volume(phase=phase)) is None


def test_a_volume_of_someone_else_is_never_touched() -> None:
    volume = a_volume(phase="Released")
    volume["metadata"]["annotations"] = {"pv.kubernetes.io/provisioned-by": "rancher.io/local-path"}

    assert decide(None, volume) is None


def test_a_volume_belongs_to_its_claim_and_its_node() -> None:
    claim = a_claim(node="w3")
    volume = persistent_volume(Make(claim=claim, kind=SIZED, node="w3", size="64Mi"), reclaim="Retain")

    assert volume["metadata"]["name"] == volume_name(claim) == "pvc-1234"
    assert volume["spec"]["local"] == {"path": "/var/box/volumes/pvc-1234"}
    assert volume["spec"]["claimRef"]["uid"] == "1234"
    assert volume["spec"]["capacity"] == {"storage": "64Mi"}
    assert volume["spec"]["persistentVolumeReclaimPolicy"] == "Retain"
    assert node_of(volume) == "w3"


def test_after_growth_the_claim_shows_its_size_and_no_resizing() -> None:
    claim = a_bound_claim(capacity="64Mi", size="128Mi")
    claim["status"]["conditions"] = [{"type": "Resizing"}, {"type": "FileSystemResizePending"}, {"type": "Mine"}]

    patch = grown_status(Grow(claim=claim, kind=SIZED, node="w1", size="128Mi"))

    assert patch["metadata"] == {"resourceVersion": "7"}
    assert patch["status"] == {
        "capacity": {"storage": "128Mi"},
        "allocatedResources": {"storage": "128Mi"},
        "allocatedResourceStatuses": None,
        "conditions": [{"type": "Mine"}],
    }
