"""A cluster that is deleted is gone, and its name can be used again."""

from __future__ import annotations

from tests.box.cluster.conftest import Make
from tests.box.driving import Box


def test_nothing_is_left_of_a_deleted_cluster(etcd: Make, box: Box) -> None:
    cluster = etcd(size=3)
    cluster.settled()

    cluster.delete()

    cluster.until(lambda: not cluster.pods, within=60)
    kinds = "pods,services,poddisruptionbudgets,persistentvolumeclaims"
    cluster.until(lambda: not box.kubectl("get", kinds, "-n", cluster.namespace, "-o", "name").strip(), within=60)


def test_one_of_the_same_name_begins_anew_and_empty(etcd: Make) -> None:
    first = etcd(size=3)
    before = first.settled()
    first.put("key", "value")
    identity = first.status["clusterID"]
    first.delete()

    second = etcd(size=3)
    after = second.settled()

    assert not set(before) & set(after)
    assert second.status["clusterID"] != identity
    assert second.get("key") is None
