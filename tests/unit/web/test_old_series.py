"""The seven metrics of the old operator, by the names that dashboards ask for."""

from __future__ import annotations

from etcd_operator.kube.store import Key
from etcd_operator.web.metrics import Metrics
from tests.unit.web.samples import samples, value
from tests.unit.web.statuses import DEMO, a_status

CONTROLLER = "etcd_operator_controller_clusters"
RECONCILE = "etcd_operator_cluster_reconcile"


def turned(metrics: Metrics, key: Key = DEMO, *, generation: int = 1, phase: str = "Running", error: str = "") -> None:
    status = a_status(generation=generation, phase=phase)
    metrics.turned(key, status=status, step="Wait", seconds=0.3, error=error or None)


async def counts(metrics: Metrics) -> dict[str, float | None]:
    return {word: await value(metrics, f"{CONTROLLER}_{word}") for word in ("created", "modified", "failed", "deleted")}


async def test_all_seven_are_there_with_their_types() -> None:
    metrics = Metrics(version="1")
    turned(metrics, error="Unreachable")

    text = (await metrics.exposed()).decode()

    for name, kind in (
        (CONTROLLER, "gauge"),
        (f"{CONTROLLER}_created", "counter"),
        (f"{CONTROLLER}_deleted", "counter"),
        (f"{CONTROLLER}_modified", "counter"),
        (f"{CONTROLLER}_failed", "counter"),
        (f"{RECONCILE}_duration", "histogram"),
        (f"{RECONCILE}_failed", "counter"),
    ):
        assert f"# TYPE {name} {kind}\n" in text
    assert f"\n{CONTROLLER}_created 1.0\n" in text
    assert f'\n{RECONCILE}_failed{{Reason="Unreachable"}} 1.0\n' in text
    assert f'\n{RECONCILE}_duration_bucket{{ClusterName="demo",le="0.4"}} 1.0\n' in text


async def test_the_buckets_double_from_a_tenth_of_a_second() -> None:
    metrics = Metrics(version="1")
    turned(metrics)

    found = await samples(metrics)
    bounds = sorted(float(dict(labels)["le"]) for name, labels in found if name == f"{RECONCILE}_duration_bucket")

    assert bounds == [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, float("inf")]


async def test_clusters_come_change_fail_and_go() -> None:
    metrics = Metrics(version="1")

    turned(metrics)
    turned(metrics)
    assert await counts(metrics) == {"created": 1, "modified": 0, "failed": 0, "deleted": 0}

    turned(metrics, generation=2)
    turned(metrics, generation=2, phase="Failed")
    turned(metrics, generation=2, phase="Failed")
    assert await counts(metrics) == {"created": 1, "modified": 1, "failed": 1, "deleted": 0}
    assert await value(metrics, CONTROLLER) == 1

    metrics.forget(DEMO)
    metrics.forget(DEMO)
    assert await counts(metrics) == {"created": 1, "modified": 1, "failed": 1, "deleted": 1}
    assert await value(metrics, CONTROLLER) == 0


async def test_a_name_that_two_namespaces_share_stays_until_the_second_is_gone() -> None:
    metrics, twin = Metrics(version="1"), Key("other", "demo")
    turned(metrics)
    turned(metrics, twin)
    count = f"{RECONCILE}_duration_count"

    metrics.forget(DEMO)
    assert await value(metrics, count, ClusterName="demo") == 2

    metrics.forget(twin)
    assert await value(metrics, count, ClusterName="demo") is None
