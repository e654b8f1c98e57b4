from __future__ import annotations

import time

import pytest

from etcd_operator.api.cluster import ClusterStatus, MemberStatus
from etcd_operator.kube.store import Key
from etcd_operator.web.cluster_series import quorum_margin
from etcd_operator.web.metrics import Metrics
from tests.unit.web.samples import samples, value
from tests.unit.web.statuses import DEMO, a_member, a_status, upgrading

WHO = {"namespace": "default", "name": "demo"}


def turned(metrics: Metrics, status: ClusterStatus | None, *, key: Key = DEMO, step: str = "Wait") -> None:
    metrics.turned(key, status=status, step=step, seconds=0.1, error=None)


async def test_a_status_becomes_series() -> None:
    metrics = Metrics(version="1")

    turned(metrics, a_status(a_member("a", "Leader"), a_member("b"), a_member("c", "Learner", ready=False)))

    for name, labels, wanted in (
        ("cluster_members", {"state": "desired"}, 3),
        ("cluster_members", {"state": "present"}, 3),
        ("cluster_members", {"state": "ready"}, 2),
        ("cluster_members", {"state": "learner"}, 1),
        ("cluster_quorum_margin", {}, 0),
        ("cluster_paused", {}, 0),
        ("cluster_info", {"version": "3.6.11", "target_version": ""}, 1),
        ("cluster_condition", {"type": "Ready", "status": "True"}, 1),
        ("cluster_condition", {"type": "Ready", "status": "False"}, 0),
        ("cluster_condition", {"type": "Ready", "status": "Unknown"}, 0),
        ("cluster_condition", {"type": "Degraded", "status": "False"}, 1),
    ):
        assert await value(metrics, f"etcd_operator_{name}", **WHO, **labels) == wanted, (name, labels)


async def test_a_label_that_changed_leaves_nothing_behind() -> None:
    metrics, status = Metrics(version="1"), a_status(a_member("a"))

    turned(metrics, upgrading(status))
    operation = {**WHO, "operation": "Upgrade"}
    assert await value(metrics, "etcd_operator_operation_in_progress", **operation) == 1
    assert await value(metrics, "etcd_operator_operation_start_timestamp_seconds", **operation) == 1794700800

    turned(metrics, status)
    found = await samples(metrics)
    assert not [name for name, _ in found if name.startswith("etcd_operator_operation")]
    (info,) = [dict(labels) for name, labels in found if name == "etcd_operator_cluster_info"]
    assert info == {**WHO, "version": "3.6.11", "target_version": ""}


async def test_steps_are_counted_and_waits_are_none() -> None:
    metrics = Metrics(version="1")

    for step in ("AddMember", "Wait", "AddMember", "PromoteLearner", "Wait"):
        turned(metrics, a_status(), step=step)

    steps = {
        dict(labels)["step"]: count
        for (name, labels), count in (await samples(metrics)).items()
        if name == "etcd_operator_cluster_steps_total"
    }
    assert steps == {"AddMember": 2, "PromoteLearner": 1}


async def test_a_turn_that_failed_early_keeps_what_was_known() -> None:
    metrics = Metrics(version="1")
    turned(metrics, a_status(a_member("a")))
    before = time.time()

    turned(metrics, None)

    assert await value(metrics, "etcd_operator_cluster_members", **WHO, state="ready") == 1
    last = await value(metrics, "etcd_operator_last_reconcile_timestamp_seconds", **WHO)
    assert last is not None
    assert last >= before


async def test_a_cluster_that_is_gone_leaves_no_series_of_its_own() -> None:
    metrics, other = Metrics(version="1"), Key("other", "one")
    turned(metrics, upgrading(a_status(a_member("a"))), step="AddMember")
    turned(metrics, a_status(a_member("a")), key=other)

    metrics.forget(DEMO)

    named = [(name, labels) for name, labels in await samples(metrics) if "demo" in dict(labels).values()]
    assert named == []
    assert await value(metrics, "etcd_operator_cluster_paused", namespace="other", name="one") == 0


@pytest.mark.parametrize(
    ("members", "margin"),
    [
        ((), None),
        ((a_member("a", "Learner"), a_member("b", "Joining")), None),
        ((a_member("a", "Leader"),), 0),
        ((a_member("a", ready=False),), -1),
        ((a_member("a", "Leader"), a_member("b"), a_member("c")), 1),
        ((a_member("a", "Leader"), a_member("b"), a_member("c"), a_member("d", "Learner")), 1),
        ((a_member("a"), a_member("b", ready=False), a_member("c", ready=False)), -1),
        (tuple(a_member(name) for name in "abcde"), 2),
    ],
)
def test_the_margin_is_how_many_voters_may_still_fail(members: tuple[MemberStatus, ...], margin: int | None) -> None:
    assert quorum_margin(members) == margin
