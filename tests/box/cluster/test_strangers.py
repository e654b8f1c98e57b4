"""Pods that carry a cluster's labels and are not its own: clients must never be led to two clusters at once."""

from __future__ import annotations

from tests.box.cluster.conftest import Make
from tests.box.driving import Box


def test_no_cluster_begins_beside_the_members_of_one_of_the_same_name(box: Box, namespace: str, etcd: Make) -> None:
    first = etcd("demo", size=1)
    (left_behind,) = first.settled()
    first.put("key", "value")
    box.kubectl("delete", "etcd", "demo", "-n", namespace, "--cascade=orphan")
    box.kubectl("delete", "service", "demo", "demo-client", "-n", namespace)
    box.kubectl("delete", "pdb", "demo", "-n", namespace)

    second = etcd("demo", size=1)
    second.until(lambda: f"Pod {left_behind} has the labels" in second.condition("Ready")["message"])
    assert [*second.pods] == [left_behind]

    box.kubectl("delete", "pod", left_behind, "-n", namespace)
    (member,) = second.settled()
    assert member != left_behind
    assert second.get("key") is None
