"""A cluster that the archived operator made is taken over as it runs, and is looked after from then on."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.box.cluster import old_clusters
from tests.box.cluster.clusters import CLUSTER_WIDE, Cluster
from tests.box.cluster.conftest import Make
from tests.box.cluster.operators import HOME, Operator
from tests.box.cluster.versions import V32, V33
from tests.box.driving import Box, Object, eventually
from tests.box.pods import wait_ready
from tests.old_objects import AVAILABLE, SERVING, cluster_status, etcd_cluster

MEMBERS = ["demo-0000", "demo-0001", "demo-0002"]


@pytest.fixture
def old(box: Box, namespace: str, operator: Operator, etcd: Make, tmp_path: Path) -> Cluster:
    """Three members with the names of before 0.8.3, made while no operator of ours is at work."""
    old_clusters.load_images(box, tmp_path)
    box.kubectl("scale", "deployment/etcd-operator", "-n", HOME, "--replicas=0")
    try:
        eventually(lambda: not operator.pods(), within=60)
        cluster = etcd(create=False)
        stored = etcd_cluster("demo", spec={"repository": old_clusters.REPOSITORY}, annotations=CLUSTER_WIDE)
        stored["metadata"]["namespace"] = namespace
        box.apply(stored)
        stored = cluster.stored
        box.apply(*old_clusters.services(stored))
        for number, member in enumerate(MEMBERS):
            join(cluster, stored, member, members=MEMBERS[: number + 1])
        status = cluster_status("Running", size=3, members={"ready": MEMBERS}, currentVersion=V32, **SERVING)
        status["conditions"] = [AVAILABLE]
        box.api.patch(f"{cluster.path}/status", {"status": status})
        cluster.put("key", "value")
    finally:
        box.kubectl("scale", "deployment/etcd-operator", "-n", HOME, "--replicas=2")
    return cluster


def join(cluster: Cluster, stored: Object, member: str, *, members: list[str]) -> None:
    """As the old operator did it: added as a voter first, started after."""
    if len(members) > 1:
        cluster.console.add(f"http://{member}.demo.{cluster.namespace}.svc:2380", learner=False)
    cluster.box.apply(old_clusters.pod(stored, member, members=members, seed=len(members) == 1))
    wait_ready(cluster.box, cluster.namespace, member)
    cluster.until(lambda: all(one.name for one in cluster.console.members()), within=60)


@pytest.mark.timeout(900)
def test_no_member_is_touched_and_then_it_grows_heals_and_is_upgraded(old: Cluster) -> None:
    uids, restarts = old.uids(), old.restarts()

    assert old.settled() == MEMBERS
    assert (old.uids(), old.restarts()) == (uids, restarts)
    assert old.get("key") == "value"
    old.until(lambda: "clusterID" in old.status, within=30)

    old.change(size=4)
    assert set(MEMBERS) < set(old.settled(within=240))
    old.change(size=3)
    old.settled(within=240)
    victim = next(name for name in old.pods if name in MEMBERS)
    old.delete_pod(victim, at_once=True)
    old.settled(without=[victim], within=240)

    old.change(version=V33)
    after = old.settled(within=300)
    assert {old.member_status(name)["version"] for name in after} == {V33}
    assert old.get("key") == "value"
