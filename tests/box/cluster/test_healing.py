"""What is lost comes back: members, and the objects around them."""

from __future__ import annotations

from tests.box.cluster import processes
from tests.box.cluster.conftest import Make
from tests.box.driving import Box


def test_a_deleted_pod_without_a_volume_is_a_member_replaced(etcd: Make) -> None:
    cluster = etcd(size=3)
    before = cluster.settled()
    cluster.put("key", "value")
    victim = next(name for name in before if name != cluster.leader())

    cluster.delete_pod(victim)
    after = cluster.settled(without=[victim])

    assert len(set(before) & set(after)) == 2
    assert cluster.voters() == after
    assert cluster.get("key") == "value"
    cluster.until(lambda: "MemberReplaced" in cluster.reasons, within=20)


def test_the_leaders_pod_is_deleted_under_traffic_and_one_election_follows(etcd: Make) -> None:
    cluster = etcd(size=3)
    before = cluster.settled()
    leader = cluster.leader()
    term = cluster.member_status(leader)["term"]
    cluster.console.begin_writing()

    cluster.delete_pod(leader)
    after = cluster.settled(without=[leader])

    report = cluster.console.end_writing()
    assert report.lost == []
    assert len(set(before) & set(after)) == 2
    assert {cluster.member_status(name)["term"] for name in after} == {term + 1}


def test_a_pod_that_is_killed_the_hard_way_is_replaced_too(etcd: Make) -> None:
    cluster = etcd(size=3)
    victim = cluster.settled()[0]

    cluster.delete_pod(victim, at_once=True)
    after = cluster.settled(without=[victim])

    assert cluster.voters() == after


def test_a_container_that_ends_is_the_same_member_again(etcd: Make) -> None:
    cluster = etcd(size=3)
    before = cluster.settled()
    uids = cluster.uids()
    cluster.put("key", "value")

    processes.end(before[0])
    cluster.until(lambda: cluster.restarts()[before[0]] == 1, within=60)

    assert cluster.settled() == before
    assert cluster.uids() == uids
    assert cluster.get("key") == "value"


def test_services_and_budget_that_somebody_deletes_come_back(etcd: Make, box: Box) -> None:
    cluster = etcd(size=3)
    cluster.settled()
    made = ("service/demo", "service/demo-client", "poddisruptionbudget/demo")

    for each in made:
        box.kubectl("delete", each, "-n", cluster.namespace)

    cluster.until(lambda: len(box.kubectl("get", *made, "-n", cluster.namespace, "-o", "name").split()) == 3, within=60)
    cluster.settled()
