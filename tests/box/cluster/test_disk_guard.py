"""A member that has lost its disk is never started again as if nothing had happened: writes would be lost."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.box.cluster import disks, nodes
from tests.box.cluster.clusters import Cluster
from tests.box.cluster.conftest import Make
from tests.box.cluster.test_claims import ON_CLAIMS
from tests.box.driving import Box

SPREAD = {
    "affinity": {
        "podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"etcd_cluster": "demo"}}}
            ]
        }
    }
}


@pytest.fixture(autouse=True)
def _powered(box: Box) -> Iterator[None]:
    with nodes.all_back_afterwards(box):
        yield


def seed_of(cluster: Cluster) -> str:
    """The member that was started as a new cluster."""
    commands = {name: pod["spec"]["containers"][0]["command"] for name, pod in cluster.pods.items()}
    return next(name for name, words in commands.items() if "--initial-cluster-state=new" in words)


def etcd_runs(cluster: Cluster, member: str) -> bool:
    """Whether etcd itself is running in the pod, or has been since the pod was last begun anew."""
    statuses = cluster.pods[member]["status"].get("containerStatuses", [{}])
    return "running" in statuses[0].get("state", {})


def verdict(cluster: Cluster, member: str) -> str:
    """What the guard said when it ended."""
    for status in cluster.pods[member]["status"].get("initContainerStatuses", ()):
        ended = status["state"].get("terminated") or status.get("lastState", {}).get("terminated") or {}
        if ended.get("exitCode") and ended.get("message"):
            return str(ended["message"])
    return ""


@pytest.mark.parametrize("which", ["seed", "joiner"])
def test_a_wiped_volume_is_refused_and_its_member_replaced(etcd: Make, which: str) -> None:
    cluster = etcd(size=3, pod=ON_CLAIMS)
    before = cluster.settled()
    cluster.put("key", "value")
    seed = seed_of(cluster)
    victim = seed if which == "seed" else next(name for name in before if name != seed)

    disks.wipe(disks.folder(cluster, victim))
    cluster.delete_pod(victim, at_once=True)
    after = cluster.settled(without=[victim])

    assert len(set(before) & set(after)) == 2
    assert cluster.voters() == after
    assert cluster.get("key") == "value"
    assert any("its volume holds no data" in note for _, note in cluster.events), cluster.events


@pytest.mark.parametrize("which", ["seed", "joiner"])
def test_a_disk_wiped_while_its_node_is_off_is_refused_and_its_member_replaced(
    etcd: Make, box: Box, which: str
) -> None:
    cluster = etcd(size=3, pod=SPREAD)
    before = cluster.settled()
    cluster.put("key", "value")
    seed = seed_of(cluster)
    victim = seed if which == "seed" else next(name for name in before if name != seed)
    node, place = cluster.node_of(victim), disks.folder(cluster, victim)

    nodes.kill(box, node)
    disks.wipe(place)
    nodes.start(box, node)
    after = cluster.settled(without=[victim])

    assert len(set(before) & set(after)) == 2
    assert cluster.get("key") == "value"


@pytest.mark.parametrize("pod", [SPREAD, SPREAD | ON_CLAIMS], ids=["without-volumes", "with-volumes"])
@pytest.mark.timeout(600)
def test_with_all_members_down_the_wiped_seed_does_not_start_first(etcd: Make, box: Box, pod: dict[str, Any]) -> None:
    """Started so, etcd would be an empty cluster with the same IDs, healthy and ready to lose everything."""
    cluster = etcd(size=3, pod=pod)
    before = cluster.settled()
    cluster.put("key", "value")
    seed = seed_of(cluster)
    homes = {name: cluster.node_of(name) for name in before}
    place = disks.folder(cluster, seed)

    nodes.kill(box, *homes.values())
    disks.wipe(place)
    nodes.start(box, homes[seed])
    cluster.until(lambda: "DiskLost" in verdict(cluster, seed), within=120)
    assert not etcd_runs(cluster, seed)

    nodes.start(box, *(node for name, node in homes.items() if name != seed))
    after = cluster.settled(without=[seed], within=240)
    assert cluster.get("key") == "value"
    assert len(set(before) & set(after)) == 2
