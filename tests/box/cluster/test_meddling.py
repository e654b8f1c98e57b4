"""Somebody works on a cluster by hand, and it comes out right."""

from __future__ import annotations

from tests.box.cluster.conftest import Make
from tests.box.driving import Box


def test_a_wiped_status_comes_back_and_no_second_cluster_with_it(etcd: Make, box: Box) -> None:
    cluster = etcd(size=3)
    before = cluster.settled()
    identity = cluster.status["clusterID"]
    cluster.put("key", "value")

    box.kubectl(
        "patch", "etcd", "demo", "-n", cluster.namespace, "--subresource=status", "--type=json",
        "--patch", '[{"op": "remove", "path": "/status"}]',
    )  # fmt: skip
    cluster.until(lambda: cluster.status.get("clusterID") == identity, within=60)

    assert cluster.settled() == before
    assert cluster.get("key") == "value"


def test_a_member_removed_by_hand_is_replaced(etcd: Make) -> None:
    cluster = etcd(size=3)
    before = cluster.settled()
    victim = next(one for one in cluster.console.members() if one.name != cluster.leader())

    cluster.console.remove(victim.id)

    after = cluster.settled(without=[victim.name])
    assert len(set(before) & set(after)) == 2
    assert cluster.voters() == after


def test_a_learner_added_by_hand_that_never_starts_does_not_stay(etcd: Make) -> None:
    cluster = etcd(size=3)
    before = cluster.settled()

    cluster.console.add(f"http://demo-nobody.demo.{cluster.namespace}.svc:2380", learner=True)

    cluster.until(lambda: len(cluster.console.members()) == 3, within=120)
    cluster.settled()
    assert len(set(cluster.voters()) & set(before)) >= 2


def test_a_voter_added_by_hand_that_never_starts_does_not_stay(etcd: Make) -> None:
    cluster = etcd(size=3)
    before = cluster.settled()

    cluster.console.add(f"http://demo-nobody.demo.{cluster.namespace}.svc:2380", learner=False)

    cluster.until(lambda: len(cluster.console.members()) == 3, within=120)
    cluster.settled()
    assert len(set(cluster.voters()) & set(before)) >= 2
