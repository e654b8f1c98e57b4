"""Changes of what is asked of pods reach the members there are."""

from __future__ import annotations

from tests.box.cluster.clusters import Cluster
from tests.box.cluster.conftest import Make
from tests.box.cluster.test_claims import ON_CLAIMS
from tests.box.driving import Object

VARIABLE = {"name": "ETCD_AUTO_COMPACTION_RETENTION", "value": "1"}


def has_variable(pod: Object) -> bool:
    return VARIABLE in pod["spec"]["containers"][0].get("env", [])


def roll(cluster: Cluster) -> None:
    cluster.console.begin_writing()
    cluster.change(pod={"etcdEnv": [VARIABLE]})
    cluster.until(lambda: all(map(has_variable, cluster.pods.values())), within=240)


def test_without_volumes_new_members_take_the_place_of_the_old_ones(etcd: Make) -> None:
    cluster = etcd(size=3)
    before = cluster.settled()

    roll(cluster)

    after = cluster.settled()
    assert not set(before) & set(after)
    assert cluster.voters() == after
    assert cluster.console.end_writing().lost == []


def test_with_volumes_members_get_new_pods_and_stay_who_they_are(etcd: Make) -> None:
    cluster = etcd(size=3, pod=ON_CLAIMS)
    before = cluster.settled()

    roll(cluster)

    assert cluster.settled() == before
    assert cluster.console.end_writing().lost == []


def test_labels_and_annotations_reach_running_pods_and_nobody_restarts(etcd: Make) -> None:
    cluster = etcd(size=3)
    before = cluster.settled()
    uids, restarts = cluster.uids(), cluster.restarts()

    cluster.change(pod={"labels": {"team": "storage"}, "annotations": {"example.com/contact": "somebody"}})

    cluster.until(lambda: all(map(is_marked, cluster.pods.values())), within=30)
    assert cluster.settled() == before
    assert (cluster.uids(), cluster.restarts()) == (uids, restarts)


def is_marked(pod: Object) -> bool:
    labels: dict[str, str] = pod["metadata"]["labels"]
    annotations: dict[str, str] = pod["metadata"]["annotations"]
    return (labels.get("team"), annotations.get("example.com/contact")) == ("storage", "somebody")
