"""What is read from the metrics that the operator itself shows."""

from __future__ import annotations

from bench.operator_metrics import Scrape, etcd_calls
from etcd_operator.kube.calls import Call
from etcd_operator.web.metrics import Metrics

GRPC = """\
# TYPE grpc_server_handled_total counter
grpc_server_handled_total{grpc_code="OK",grpc_method="Range"} 7
grpc_server_handled_total{grpc_code="OK",grpc_method="Status"} 5
"""


async def shown(metrics: Metrics) -> Scrape:
    return Scrape.read((await metrics.exposed()).decode())


async def test_calls_between_two_moments_are_counted_without_watches_and_the_lease() -> None:
    metrics = Metrics(version="1")
    call = Call(verb="create", resource="pods", code="201", seconds=0.1)
    metrics.called(call)
    before = await shown(metrics)
    for verb, resource in (("create", "pods"), ("create", "pods"), ("watch", "pods"), ("update", "leases")):
        metrics.called(Call(verb=verb, resource=resource, code="200", seconds=0.1))
    metrics.called(Call(verb="create", resource="pods", code="409", seconds=0.1))
    after = await shown(metrics)

    assert after.calls_since(before) == {"create pods": 3}
    assert after.calls_since(before, heartbeat=True) == {"create pods": 3, "update leases": 1}


async def test_memory_and_time_are_those_of_the_process() -> None:
    scrape = await shown(Metrics(version="1"))

    assert 10 < scrape.megabytes < 2000
    assert scrape.cpu_seconds > 0


def test_calls_that_a_member_of_etcd_has_answered_are_added_up() -> None:
    assert etcd_calls(GRPC) == 12
