"""Every object whole, as a file that a person can read: `pytest tests/unit/cluster --rewrite-golden` writes them."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from etcd_operator.cluster.claim import member_claim
from etcd_operator.cluster.disruption import disruption_budget
from etcd_operator.cluster.image_pull import image_pull
from etcd_operator.cluster.services import client_service, peer_service
from tests.unit.cluster.clusters import (
    BOTH_TLS,
    CLAIM,
    CLIENT_TLS,
    FIRST,
    PEER_TLS,
    a_cluster,
    a_joiner,
    a_returning,
    a_seed,
    pod_of,
)

GOLDEN = Path(__file__).parent / "golden"

EVERYTHING = {
    "labels": {"team": "storage", "app": "theirs"},
    "annotations": {"example.test/note": "kept", "etcd.version": "9.9.9"},
    "nodeSelector": {"disk": "ssd"},
    "antiAffinity": True,
    "tolerations": [{"key": "dedicated", "operator": "Equal", "value": "etcd", "effect": "NoSchedule"}],
    "topologySpreadConstraints": [
        {
            "maxSkew": 1,
            "topologyKey": "topology.kubernetes.io/zone",
            "whenUnsatisfiable": "ScheduleAnyway",
            "labelSelector": {"matchLabels": {"etcd_cluster": "demo"}},
        }
    ],
    "priorityClassName": "important",
    "serviceAccountName": "etcd",
    "imagePullSecrets": [{"name": "registry"}],
    "resources": {"requests": {"cpu": "500m", "memory": "512Mi"}, "limits": {"memory": "2Gi"}},
    "etcdEnv": [
        {"name": "ETCD_QUOTA_BACKEND_BYTES", "value": "8589934592"},
        {"name": "ETCD_MAX_LEARNERS", "value": "2"},
        {"name": "ETCD_NAME", "value": "mine"},
    ],
    "persistentVolumeClaimSpec": CLAIM,
    "securityContext": {"runAsUser": 9000, "runAsNonRoot": True, "fsGroup": 9000},
    "terminationGracePeriodSeconds": 60,
    "DNSTimeoutInSecond": 90,
    "ClusterDomain": ".cluster.local",
}


def the_pod(make: Callable[..., Any], version: str = "3.6.16", **spec: Any) -> Any:
    cluster = a_cluster(**spec)
    return pod_of(cluster, make(cluster, version))


CASES: dict[str, Callable[[], Any]] = {
    "pod-seed": lambda: the_pod(a_seed),
    "pod-joiner": lambda: the_pod(a_joiner),
    "pod-on-its-claim-again": lambda: the_pod(a_returning, pod={"persistentVolumeClaimSpec": CLAIM}),
    "pod-seed-3.2": lambda: the_pod(a_seed, "3.2.13"),
    "pod-seed-3.3": lambda: the_pod(a_seed, "3.3.27"),
    "pod-seed-3.4": lambda: the_pod(a_seed, "3.4.23"),
    "pod-seed-3.5": lambda: the_pod(a_seed, "v3.5.21"),
    "pod-tls": lambda: the_pod(a_seed, TLS=BOTH_TLS),
    "pod-peer-tls-joiner": lambda: the_pod(a_joiner, TLS=PEER_TLS),
    "pod-client-tls-joiner": lambda: the_pod(a_joiner, TLS=CLIENT_TLS),
    "pod-every-policy": lambda: the_pod(a_seed, pod=EVERYTHING, repository="mirror.test/etcd"),
    "pod-busybox": lambda: the_pod(a_seed, pod={"busyboxImage": "busybox:1.28.0-glibc", "DNSTimeoutInSecond": 30}),
    "pod-as-root": lambda: the_pod(a_seed, pod={"securityContext": {}}),
    "service-client": lambda: client_service(a_cluster()),
    "service-peer": lambda: peer_service(a_cluster()),
    "disruption-budget": lambda: disruption_budget(a_cluster(), voters=3, on_claims=False),
    "pod-that-pulls-an-image": lambda: image_pull(
        a_cluster(pod={"imagePullSecrets": [{"name": "registry"}]}),
        member=FIRST,
        node="w1",
        image="mirror.test/etcd:v3.7.3",
    ),
    "claim": lambda: member_claim(a_cluster(), FIRST, wanted=CLAIM),
    "claim-kept": lambda: member_claim(a_cluster(deletionPolicy="Retain"), FIRST, wanted=CLAIM),
}


class Plain(yaml.SafeDumper):
    """Without references from one place to another, and with scripts as people write them."""

    def ignore_aliases(self, data: object) -> bool:
        return True


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style="|" if "\n" in value else None)


Plain.add_representer(str, _text)


def as_text(manifest: Any) -> str:
    return yaml.dump(manifest, Dumper=Plain, sort_keys=False, width=1000)


@pytest.mark.parametrize("name", CASES)
def test_an_object_is_as_it_was_agreed(name: str, rewrite: bool) -> None:
    file = GOLDEN / f"{name}.yaml"
    made = as_text(CASES[name]())
    if rewrite:
        file.write_text(made)
    agreed = file.read_text() if file.exists() else ""

    assert made == agreed, "\n" + "\n".join(difflib.unified_diff(agreed.splitlines(), made.splitlines(), lineterm=""))


def test_every_golden_file_belongs_to_a_case() -> None:
    assert {file.stem for file in GOLDEN.iterdir()} == set(CASES)
