"""What is somebody else's stays so: objects with a name that a cluster needs, and clusters of another operator."""

from __future__ import annotations

from tests.box.cluster.clusters import CLUSTER_WIDE, manifest
from tests.box.cluster.conftest import Make
from tests.box.cluster.versions import V36
from tests.box.driving import Box


def test_a_service_of_somebody_else_is_told_of_and_not_touched(box: Box, namespace: str, etcd: Make) -> None:
    theirs = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "demo-client", "namespace": namespace},
        "spec": {"selector": {"app": "web"}, "ports": [{"port": 80}]},
    }
    box.apply(theirs)
    before = box.get("service", "demo-client", namespace)

    cluster = etcd("demo", size=1)
    told = cluster.until(lambda: "Service demo-client is there already" in cluster.condition("Ready")["message"])
    assert told
    assert cluster.pods == {}
    assert box.get("service", "demo-client", namespace) == before

    box.kubectl("delete", "service", "demo-client", "-n", namespace)
    cluster.settled()
    assert box.get("service", "demo-client", namespace)["spec"]["selector"]["etcd_cluster"] == "demo"


def test_a_cluster_of_another_operator_is_left_alone_until_it_is_given_over(
    box: Box, namespace: str, etcd: Make
) -> None:
    others = etcd("others", create=False)
    box.apply(manifest("others", namespace, {"size": 1, "version": V36}, annotations={}))
    etcd("ours", size=1).settled()

    assert (others.status, others.pods) == ({}, {})

    box.apply(manifest("others", namespace, {"size": 1, "version": V36}, annotations=CLUSTER_WIDE))
    others.settled()
