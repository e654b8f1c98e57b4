"""Whose pods and claims are whose: by UID, and never across the border of a namespace."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest

from etcd_operator.api.cluster_names import CLUSTER_UID
from etcd_operator.cluster.caches import Caches
from etcd_operator.kube.client import Client
from etcd_operator.kube.connection import Connection
from etcd_operator.kube.projections import Claim, Pod
from tests.unit.cluster.clusters import UID, a_cluster

OWNED: dict[str, Any] = {
    "ownerReferences": [{"apiVersion": "etcd.database.coreos.com/v1beta2", "kind": "EtcdCluster", "uid": UID}]
}
LABELS = {"app": "etcd", "etcd_cluster": "demo"}


@pytest.fixture
async def caches() -> AsyncIterator[Caches]:
    """Nobody is asked: what the tests say is all that was heard."""
    async with Client(Connection("http://127.0.0.1:9"), user_agent="tests") as client:
        yield Caches(client, namespace=None)


def put_pod(caches: Caches, name: str, *, phase: str = "Running", **metadata: Any) -> None:
    named = {"name": name, "namespace": "prod", "uid": f"of-{name}", "labels": LABELS, **metadata}
    caches.pods.store.put(msgspec.convert({"metadata": named, "status": {"phase": phase}}, Pod))


def put_claim(caches: Caches, name: str, **metadata: Any) -> None:
    named = {"name": name, "namespace": "prod", "uid": f"of-{name}", **metadata}
    caches.claims.store.put(msgspec.convert({"metadata": named}, Claim))


async def test_a_pod_of_another_namespace_is_nobodys_member_whatever_owner_it_names(caches: Caches) -> None:
    put_pod(caches, "demo-a", **OWNED)
    put_pod(caches, "demo-a", namespace="elsewhere", **OWNED)
    put_pod(caches, "demo-b", namespace="elsewhere", **OWNED)

    found = caches.pods_of(a_cluster().metadata)

    assert [(pod.metadata.namespace, pod.metadata.name) for pod in found] == [("prod", "demo-a")]


async def test_a_claim_of_another_namespace_is_nobodys_disk_whatever_its_label_says(caches: Caches) -> None:
    put_claim(caches, "demo-a", labels={CLUSTER_UID: UID})
    put_claim(caches, "demo-b", namespace="elsewhere", labels={CLUSTER_UID: UID})
    put_claim(caches, "demo-c", namespace="elsewhere", **OWNED)

    assert [claim.metadata.name for claim in caches.claims_of(a_cluster().metadata)] == ["demo-a"]


async def test_pods_that_the_services_would_lead_to_and_that_are_not_ours_are_strangers(caches: Caches) -> None:
    put_pod(caches, "demo-ours", **OWNED)
    put_pod(caches, "demo-left-behind")
    put_pod(caches, "demo-going", deletionTimestamp="2026-11-15T12:00:00Z")
    put_pod(caches, "demo-ended", phase="Failed")
    put_pod(caches, "demo-of-another-namespace", namespace="elsewhere")
    put_pod(caches, "other-a", labels={"app": "etcd", "etcd_cluster": "other"})
    put_pod(caches, "demo-pull", labels={"app": "etcd-image-pull", "etcd_cluster": "demo"})

    assert [pod.metadata.name for pod in caches.strangers_of(a_cluster().metadata)] == ["demo-left-behind"]


async def test_a_stranger_that_is_gone_is_one_no_more(caches: Caches) -> None:
    put_pod(caches, "demo-left-behind")
    (pod,) = caches.strangers_of(a_cluster().metadata)

    caches.pods.store.drop(pod)

    assert caches.strangers_of(a_cluster().metadata) == []
