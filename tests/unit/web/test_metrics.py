from __future__ import annotations

import asyncio
import re

import pytest

from etcd_operator.kube.calls import Call
from etcd_operator.kube.loops import Loops
from etcd_operator.kube.recorder import Counts
from etcd_operator.kube.store import Key
from etcd_operator.web.metrics import Metrics, bounded
from tests.unit.web.samples import lines, samples, types, value
from tests.unit.web.statuses import DEMO, a_member, a_status, upgrading

OLD = re.compile(r"etcd_operator_(controller_clusters|cluster_reconcile_)")
UNITS = re.compile(r"_(milliseconds|minutes|hours|ms|kilobytes|megabytes|percent)(_|$)")


def with_everything_in_it() -> Metrics:
    metrics = Metrics(version="1.2.3")
    metrics.turned(DEMO, status=upgrading(a_status(a_member("a"))), step="AddMember", seconds=0.1, error="Unreachable")
    metrics.called(Call("get", "pods", "200", 0.01))
    metrics.lagged(0.001)
    return metrics


async def test_names_keep_the_conventions_of_prometheus() -> None:
    for name, kind in (await types(with_everything_in_it())).items():
        if OLD.match(name) or name.startswith("process_"):
            continue
        assert re.fullmatch(r"etcd_operator_[a-z][a-z_]*[a-z]", name), name
        assert not UNITS.search(name), name
        assert name.endswith("_total") == (kind == "counter"), name
        assert name.endswith("_seconds") or kind != "histogram", name
        assert kind in {"counter", "gauge", "histogram"}, name


async def test_each_metric_has_a_text_and_an_info_is_always_one() -> None:
    metrics = with_everything_in_it()

    helped = {line.split()[2] for line in await lines(metrics) if re.match(r"# HELP \S+ \S", line)}
    found = await samples(metrics)

    assert helped == set(await types(metrics))
    infos = {value for (name, _), value in found.items() if name.endswith("_info")}
    assert infos == {1.0}
    labels = {label for name, labels in found for label, _ in labels if not OLD.match(name)}
    assert all(re.fullmatch(r"[a-z_]+", label) for label in labels)


async def test_no_name_is_exposed_twice_and_none_has_a_birthday() -> None:
    text = await lines(with_everything_in_it())

    names = [line.split()[2] for line in text if line.startswith("# TYPE ")]
    assert len(names) == len(set(names))
    born = [line for line in text if re.search(r"_created\b", line)]
    assert born == [
        "# HELP etcd_operator_controller_clusters_created Clusters that came, also by a restart",
        "# TYPE etcd_operator_controller_clusters_created counter",
        "etcd_operator_controller_clusters_created 1.0",
    ]


async def test_memory_and_processor_time_of_the_process_are_there() -> None:
    metrics = Metrics(version="1")

    memory = await value(metrics, "process_resident_memory_bytes")

    assert memory is not None
    assert memory > 1e6


async def test_who_leads_is_told() -> None:
    metrics = Metrics(version="1")
    assert await value(metrics, "etcd_operator_leader") == 0

    metrics.leads(yes=True)
    assert await value(metrics, "etcd_operator_leader") == 1


async def test_calls_are_counted_by_what_became_of_them() -> None:
    metrics = Metrics(version="1")

    for code in ("200", "200", "409", "none"):
        metrics.called(Call("patch", "pods/status", code, 0.2))

    labels = {"verb": "patch", "resource": "pods/status"}
    total = "etcd_operator_kube_requests_total"
    assert [await value(metrics, total, **labels, code=code) for code in ("200", "409", "none")] == [2, 1, 1]
    assert await value(metrics, "etcd_operator_kube_request_duration_seconds_count", **labels) == 4


async def test_turns_are_counted_by_result_and_reason() -> None:
    metrics = Metrics(version="1")

    for error in (None, "Unreachable", "connection to 10.0.0.1:2379 refused", None):
        metrics.turned(DEMO, status=None, step="Wait", seconds=0.1, error=error)

    kind = {"kind": "EtcdCluster"}
    assert await value(metrics, "etcd_operator_reconcile_total", **kind, result="success") == 2
    assert await value(metrics, "etcd_operator_reconcile_total", **kind, result="error") == 2
    assert await value(metrics, "etcd_operator_reconcile_errors_total", **kind, reason="Unreachable") == 1
    assert await value(metrics, "etcd_operator_reconcile_errors_total", **kind, reason="Other") == 1
    assert await value(metrics, "etcd_operator_reconcile_duration_seconds_count", **kind) == 4


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        ("QuorumLost", "QuorumLost"),
        ("503", "Other"),
        ("no such host", "Other"),
        ("", "Other"),
        ("A" * 41, "Other"),
    ],
)
def test_only_a_word_becomes_a_label(error: str, reason: str) -> None:
    assert bounded(error) == reason


async def test_loops_and_events_are_asked_when_prometheus_asks() -> None:
    metrics, events, over, begun = Metrics(version="1"), Counts(), asyncio.Event(), asyncio.Event()

    async def body(_: Key) -> None:
        begun.set()
        await over.wait()

    async with Loops(body) as loops:
        metrics.follow(loops, events)
        loops.wake(DEMO)
        await begun.wait()
        loops.wake(DEMO)
        events.created, events.dropped = 5, 2

        assert await value(metrics, "etcd_operator_turns_running", kind="EtcdCluster") == 1
        assert await value(metrics, "etcd_operator_queue_depth", kind="EtcdCluster") == 1
        assert await value(metrics, "etcd_operator_events_total", result="created") == 5
        assert await value(metrics, "etcd_operator_events_total", result="dropped") == 2
        over.set()
