"""With a volume claim a member keeps identity and disk when its pod goes."""

from __future__ import annotations

from typing import Any

from tests.box.cluster.clusters import Cluster
from tests.box.cluster.conftest import Make
from tests.box.driving import Box

CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "64Mi"}}}
ON_CLAIMS: dict[str, Any] = {"persistentVolumeClaimSpec": CLAIM}


def ids(cluster: Cluster) -> dict[str, int]:
    return {one.name: one.id for one in cluster.console.members()}


def test_a_deleted_pod_comes_back_as_the_same_member(etcd: Make) -> None:
    cluster = etcd(size=3, pod=ON_CLAIMS)
    before = cluster.settled()
    known, uids = ids(cluster), cluster.uids()
    cluster.put("key", "value")

    cluster.delete_pod(before[0])
    cluster.until(lambda: cluster.uids().get(before[0], uids[before[0]]) != uids[before[0]], within=60)

    assert cluster.settled() == before
    assert ids(cluster) == known
    assert cluster.get("key") == "value"


def test_when_all_pods_are_deleted_at_once_all_come_back_with_the_data(etcd: Make) -> None:
    cluster = etcd(size=3, pod=ON_CLAIMS)
    before = cluster.settled()
    known, uids = ids(cluster), cluster.uids()
    cluster.console.begin_writing()

    for name in before:
        cluster.delete_pod(name, at_once=True)
    cluster.until(lambda: not set(cluster.uids().values()) & set(uids.values()), within=60)
    assert cluster.settled() == before

    report = cluster.console.end_writing()
    assert report.lost == []
    assert ids(cluster) == known


def test_a_member_that_leaves_takes_its_claim_along(etcd: Make) -> None:
    cluster = etcd(size=3, pod=ON_CLAIMS)
    cluster.settled()

    cluster.change(size=1)
    [last] = cluster.settled()

    cluster.until(lambda: list(cluster.claims) == [last], within=60)


def test_a_larger_claim_grows_under_the_running_members(etcd: Make) -> None:
    cluster = etcd(size=1, pod=ON_CLAIMS)
    [member] = cluster.settled()
    uids = cluster.uids()
    larger = CLAIM | {"resources": {"requests": {"storage": "128Mi"}}}

    cluster.change(pod={"persistentVolumeClaimSpec": larger})
    cluster.until(lambda: capacity(cluster, member) == "128Mi", within=60)

    assert cluster.settled() == [member]
    assert cluster.uids() == uids


def capacity(cluster: Cluster, member: str) -> str:
    found: str = cluster.claims[member]["status"]["capacity"]["storage"]
    return found


def test_claims_go_with_their_cluster_or_stay_if_that_is_asked_for(etcd: Make, box: Box) -> None:
    going, staying = (
        etcd("going", size=1, pod=ON_CLAIMS),
        etcd("staying", size=1, pod=ON_CLAIMS, deletionPolicy="Retain"),
    )
    going.settled()
    [kept] = staying.settled()

    going.delete()
    staying.delete()

    going.until(lambda: not going.claims and not going.pods and not staying.pods, within=60)
    assert list(staying.claims) == [kept]
    assert "deletionTimestamp" not in staying.claims[kept]["metadata"]
    box.kubectl("delete", "pvc", kept, "-n", staying.namespace, "--wait=false")
