from __future__ import annotations

from typing import Any

import msgspec
import pytest

from etcd_operator.api.pod_policy import PodPolicy
from etcd_operator.cluster.policy import fingerprint
from tests.unit.cluster.clusters import BOTH_TLS, CLAIM, a_cluster

NOTHING = "44136fa355b3678a"  # part of every pod that was ever made: another value would restart them all

RESTARTING: dict[str, Any] = {
    "nodeSelector": {"disk": "ssd"},
    "affinity": {"nodeAffinity": {}},
    "antiAffinity": True,
    "tolerations": [{"operator": "Exists"}],
    "topologySpreadConstraints": [{"maxSkew": 1}],
    "priorityClassName": "high",
    "serviceAccountName": "etcd",
    "imagePullSecrets": [{"name": "registry"}],
    "resources": {"limits": {"memory": "1Gi"}},
    "etcdEnv": [{"name": "GOGC", "value": "50"}],
    "securityContext": {"runAsUser": 1000},
    "terminationGracePeriodSeconds": 60,
    "busyboxImage": "busybox:1.36",
    "DNSTimeoutInSecond": 5,
}
QUIET: dict[str, Any] = {
    "labels": {"team": "a"},
    "annotations": {"note": "b"},
    "persistentVolumeClaimSpec": CLAIM,
    "ClusterDomain": ".cluster.local",
}


def mark(**spec: Any) -> str:
    return fingerprint(a_cluster(**spec).spec)


def test_a_spec_that_asks_for_nothing_has_always_the_same_fingerprint() -> None:
    assert mark() == mark(pod={}) == mark(pod={"resources": {}, "tolerations": []}, TLS={}) == NOTHING


@pytest.mark.parametrize("field", RESTARTING)
def test_a_field_that_members_restart_with_changes_it(field: str) -> None:
    assert mark(pod={field: RESTARTING[field]}) != NOTHING


@pytest.mark.parametrize("field", QUIET)
def test_a_field_that_restarts_nobody_does_not(field: str) -> None:
    assert mark(pod={field: QUIET[field]}) == NOTHING


def test_every_field_of_the_policy_is_tried_here() -> None:
    assert {field.encode_name for field in msgspec.structs.fields(PodPolicy)} == {*RESTARTING, *QUIET}


def test_another_secret_changes_it() -> None:
    renamed = {**BOTH_TLS["static"], "operatorSecret": "another"}

    assert len({mark(), mark(TLS=BOTH_TLS), mark(TLS={"static": renamed})}) == 3


def test_size_image_and_pause_do_not() -> None:
    assert mark(size=5, version="3.7.3", repository="mirror.test/etcd", paused=True, authSecret="root") == NOTHING


def test_the_order_in_which_keys_are_written_does_not() -> None:
    assert mark(pod={"nodeSelector": {"a": "1", "b": "2"}}) == mark(pod={"nodeSelector": {"b": "2", "a": "1"}})


def test_anti_affinity_beside_an_affinity_has_no_effect() -> None:
    affinity: dict[str, Any] = {"affinity": {"nodeAffinity": {}}}

    assert mark(pod={**affinity, "antiAffinity": True}) == mark(pod=affinity)
