"""Two operators are installed and one of them acts."""

from __future__ import annotations

import time

from tests.box.cluster.conftest import Make
from tests.box.cluster.operators import HOME, Operator
from tests.box.driving import Box, eventually

AWAY = 25.0  # seconds: longer than the lease of an operator and the sign of life of a node hold


def test_the_second_operator_goes_on_where_the_first_one_was_killed(etcd: Make, box: Box, operator: Operator) -> None:
    cluster = etcd(size=3)
    before = cluster.settled()
    first = operator.leader()
    assert len(operator.pods()) == 2

    cluster.change(size=5)
    cluster.until(lambda: cluster.status.get("operation", {}).get("name") == "ScaleUp", within=30)
    box.kubectl("delete", "pod", first, "-n", HOME, "--grace-period=0", "--force")

    after = cluster.settled()
    assert set(before) < set(after)
    assert cluster.voters() == after
    assert operator.leader() not in ("", first)


def test_an_operator_that_is_asked_to_end_hands_over_at_once(etcd: Make, box: Box, operator: Operator) -> None:
    cluster = etcd(size=1)
    cluster.settled()
    first = operator.leader()

    box.kubectl("delete", "pod", first, "-n", HOME, "--wait=true", timeout=60)

    eventually(lambda: operator.leader() not in ("", first), within=10)
    cluster.change(size=3)
    cluster.settled()


def test_members_do_not_notice_that_the_operator_is_new(etcd: Make, box: Box, operator: Operator) -> None:
    cluster = etcd(size=3)
    before = cluster.settled()
    uids, restarts = cluster.uids(), cluster.restarts()

    box.kubectl("rollout", "restart", "deployment/etcd-operator", "-n", HOME)
    box.kubectl("rollout", "status", "deployment/etcd-operator", "-n", HOME, "--timeout=100s")
    eventually(operator.leader, within=60)

    assert cluster.settled() == before
    assert (cluster.uids(), cluster.restarts()) == (uids, restarts)


def test_without_an_operator_members_serve_and_a_new_one_mends_what_broke(
    etcd: Make, box: Box, operator: Operator
) -> None:
    cluster = etcd(size=3)
    before = cluster.settled()
    try:
        box.kubectl("scale", "deployment/etcd-operator", "-n", HOME, "--replicas=0")
        eventually(lambda: not operator.pods(), within=60)
        cluster.delete_pod(before[0], at_once=True)
        cluster.put("key", "value")
        assert len(cluster.console.members()) == 3
    finally:
        box.kubectl("scale", "deployment/etcd-operator", "-n", HOME, "--replicas=2")

    cluster.settled(without=[before[0]])
    assert cluster.get("key") == "value"


def test_an_api_server_that_is_away_costs_nothing_but_time(etcd: Make, box: Box) -> None:
    cluster = etcd(size=3)
    before = cluster.settled()
    uids = cluster.uids()
    cluster.console.begin_writing()

    box("pause", "apiserver")
    try:
        time.sleep(AWAY)
    finally:
        box("resume", "apiserver")

    report = cluster.console.end_writing()
    assert report.lost == []
    assert report.errors == []
    cluster.delete_pod(before[0])
    cluster.settled(without=[before[0]])
    assert {name: uid for name, uid in cluster.uids().items() if name in before[1:]} == {
        name: uid for name, uid in uids.items() if name in before[1:]
    }
