"""While a cluster is paused the operator leaves it alone, whatever happens to it."""

from __future__ import annotations

import time

from tests.box.cluster.conftest import Make

LEFT_ALONE = 8.0  # seconds: a cluster that is looked after has its new pod within one


def test_a_lost_member_is_replaced_only_after_the_pause(etcd: Make) -> None:
    cluster = etcd(size=3)
    before = cluster.settled()
    cluster.change(paused=True)
    cluster.until(lambda: cluster.status["controlPaused"], within=30)

    cluster.delete_pod(before[0], at_once=True)
    time.sleep(LEFT_ALONE)
    assert sorted(cluster.pods) == before[1:]
    assert len(cluster.console.members()) == 3

    cluster.change(paused=False)
    after = cluster.settled(without=[before[0]])
    assert cluster.voters() == after


def test_what_is_written_into_the_spec_meanwhile_is_done_after_it(etcd: Make) -> None:
    cluster = etcd(size=1)
    before = cluster.settled()
    cluster.change(paused=True)
    cluster.until(lambda: cluster.status["controlPaused"], within=30)

    cluster.change(size=3)
    cluster.until(lambda: cluster.status["observedGeneration"] == cluster.stored["metadata"]["generation"], within=30)
    assert sorted(cluster.pods) == before
    assert cluster.condition("Ready")["reason"] == "Paused"

    cluster.change(paused=False)
    assert set(before) < set(cluster.settled())
