"""Machines are drained, and fail."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.box.cluster import nodes
from tests.box.cluster.conftest import Make
from tests.box.cluster.test_disk_guard import SPREAD
from tests.box.driving import Box, CommandFailedError
from tests.box.pods import wait_node


@pytest.fixture(autouse=True)
def _powered(box: Box) -> Iterator[None]:
    with nodes.all_back_afterwards(box):
        yield


def drain(box: Box, node: str, *, seconds: int) -> None:
    options = ("--ignore-daemonsets", "--delete-emptydir-data", "--force", f"--timeout={seconds}s")
    box.kubectl("drain", node, *options, "--pod-selector=app=etcd")


def test_a_drained_node_waits_until_the_member_before_it_is_replaced(etcd: Make, box: Box) -> None:
    cluster = etcd(size=3)
    before = cluster.settled()
    cluster.console.begin_writing()
    homes = {name: cluster.node_of(name) for name in before}

    for node in sorted(set(homes.values()))[:2]:
        drain(box, node, seconds=100)

    after = cluster.settled(without=[name for name, node in homes.items() if node in sorted(set(homes.values()))[:2]])
    report = cluster.console.end_writing()
    assert report.lost == []
    assert cluster.voters() == after


def test_a_drain_that_would_cost_the_majority_is_held_up(etcd: Make, box: Box) -> None:
    cluster = etcd(size=1)
    [member] = cluster.settled()

    with pytest.raises(CommandFailedError, match=r"disruption budget|did not complete"):
        drain(box, cluster.node_of(member), seconds=6)

    assert sorted(cluster.pods) == [member]
    assert cluster.condition("Available")["status"] == "True"


@pytest.mark.timeout(600)
def test_a_member_comes_back_with_its_data_when_its_node_does(etcd: Make, box: Box) -> None:
    cluster = etcd(size=3, pod=SPREAD)
    before = cluster.settled()
    uids = cluster.uids()
    victim = before[0]
    node = cluster.node_of(victim)
    cluster.console.begin_writing()

    nodes.kill(box, node)
    wait_node(box, node, ready=False)
    cluster.until(lambda: victim in (cluster.status["members"].get("unready") or ()), within=60)
    assert cluster.condition("Available")["status"] == "True"
    nodes.start(box, node)

    assert cluster.settled() == before
    assert cluster.uids() == uids
    assert cluster.console.end_writing().lost == []


@pytest.mark.timeout(600)
def test_after_a_power_failure_of_all_nodes_everybody_is_back_with_everything(etcd: Make, box: Box) -> None:
    cluster = etcd(size=3, pod=SPREAD)
    before = cluster.settled()
    uids = cluster.uids()
    cluster.put("key", "value")
    homes = sorted({cluster.node_of(name) for name in before})

    nodes.kill(box, *homes)
    nodes.start(box, *homes)

    cluster.until(lambda: cluster.restarts() != dict.fromkeys(before, 0), within=90)
    assert cluster.settled(within=240) == before
    assert cluster.uids() == uids
    assert cluster.get("key") == "value"
