"""Everything that Prometheus can ask the operator, in one registry that belongs to one process.

Names begin with `etcd_operator_`, are in base units, and counters end in `_total`; labels hold nothing unbounded. The
seven names of the old operator, which do not keep these rules, are in `old_series`.
"""

from __future__ import annotations

import asyncio
import platform
import re
import time
from collections.abc import Iterable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Metric, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from etcd_operator.api.cluster import ClusterStatus
from etcd_operator.kube.calls import Call
from etcd_operator.kube.loops import Backlog, Loops
from etcd_operator.kube.recorder import Counts
from etcd_operator.kube.store import Key
from etcd_operator.web.cluster_series import ClusterSeries
from etcd_operator.web.exposition import exposition
from etcd_operator.web.old_series import OldSeries

KIND = "EtcdCluster"
TURN_BUCKETS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
CALL_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
LAG_BUCKETS = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5)

OTHER = "Other"
_WORD = re.compile(r"[A-Z][A-Za-z0-9]{0,39}")


def bounded(reason: str) -> str:
    """A reason is one word, as everywhere in Kubernetes; a text must not become a label."""
    return reason if _WORD.fullmatch(reason) else OTHER


class Metrics:
    def __init__(self, *, version: str) -> None:
        self._registry = CollectorRegistry()
        self._counters = CollectorRegistry()
        self._clusters = ClusterSeries()
        self._registry.register(self._clusters)
        self._old = OldSeries(self._registry, self._counters)
        self._machinery = _Machinery()
        self._registry.register(self._machinery)
        ProcessCollector(registry=self._registry)
        self._build(version)
        self._leader = self._gauge("leader", "1 while this process leads, 0 while it stands by")
        self._turns = self._counter("reconcile", "Turns of clusters' loops", "kind", "result")
        self._turn_seconds = self._histogram("reconcile_duration", "Of one turn", TURN_BUCKETS, "kind")
        self._turn_errors = self._counter("reconcile_errors", "Turns that failed, by reason", "kind", "reason")
        self._calls = self._counter("kube_requests", "Calls of the Kubernetes API", "verb", "resource", "code")
        text = "From asking the Kubernetes API to the answer; of a watch, to its beginning"
        self._call_seconds = self._histogram("kube_request_duration", text, CALL_BUCKETS, "verb", "resource")
        self._lag = self._histogram("event_loop_lag", "By how much timers of the event loop are late", LAG_BUCKETS)

    async def exposed(self) -> bytes:
        """The text. With a thousand clusters it has some megabytes, so it is made in a thread and loops do not wait."""
        self._machinery.look()
        return await asyncio.to_thread(exposition, self._registry, counters_without_total=self._counters)

    def leads(self, yes: bool) -> None:
        self._leader.set(yes)

    def lagged(self, seconds: float) -> None:
        self._lag.observe(seconds)

    def called(self, call: Call) -> None:
        self._calls.labels(call.verb, call.resource, call.code).inc()
        self._call_seconds.labels(call.verb, call.resource).observe(call.seconds)

    def follow(self, loops: Loops[Key], events: Counts) -> None:
        """From now on, asks these about themselves."""
        self._machinery.loops, self._machinery.events = loops, events

    def turned(self, key: Key, *, status: ClusterStatus | None, step: str, seconds: float, error: str | None) -> None:
        """A turn of a cluster's loop has ended."""
        self._old.turned(key, before=self._clusters.status(key), status=status, seconds=seconds)
        self._clusters.turned(key, status=status, step=step, at=time.time())
        self._turns.labels(KIND, "error" if error else "success").inc()
        self._turn_seconds.labels(KIND).observe(seconds)
        if error:
            self._turn_errors.labels(KIND, bounded(error)).inc()
            self._old.failed(bounded(error))

    def forget(self, key: Key) -> None:
        """A cluster is gone, and so are its series."""
        if self._clusters.forget(key):
            self._old.forget(key, last_of_its_name=key.name not in self._clusters.names())

    def _build(self, version: str) -> None:
        text = "1, with the versions as labels"
        build = Gauge("etcd_operator_build_info", text, ["version", "python_version"], registry=self._registry)
        build.labels(version, platform.python_version()).set(1)

    def _gauge(self, name: str, text: str) -> Gauge:
        return Gauge(f"etcd_operator_{name}", text, registry=self._registry)

    def _counter(self, name: str, text: str, *labels: str) -> Counter:
        return Counter(f"etcd_operator_{name}_total", text, labels, registry=self._registry)

    def _histogram(self, name: str, text: str, buckets: tuple[float, ...], *labels: str) -> Histogram:
        name = f"etcd_operator_{name}_seconds"
        return Histogram(name, f"Seconds: {text}", labels, registry=self._registry, buckets=buckets)


class _Machinery(Collector):
    """Loops and events, which count for themselves; asked in the event loop, exposed in a thread."""

    def __init__(self) -> None:
        self.loops: Loops[Key] | None = None
        self.events = Counts()
        self._backlog = Backlog()

    def look(self) -> None:
        self._backlog = self.loops.backlog() if self.loops is not None else Backlog()

    def collect(self) -> Iterable[Metric]:
        backlog = self._backlog
        for name, text, value in (
            ("queue_depth", "Loops that were woken and have not begun their turn", backlog.waiting),
            ("queue_oldest_age_seconds", "For how long the first of them has been waiting", backlog.oldest),
            ("turns_running", "Turns under way", backlog.running),
            ("turn_longest_age_seconds", "For how long the oldest of them has been under way", backlog.longest),
        ):
            gauge = GaugeMetricFamily(f"etcd_operator_{name}", text, labels=["kind"])
            gauge.add_metric([KIND], value)
            yield gauge
        events = CounterMetricFamily("etcd_operator_events", "Events by what became of them", labels=["result"])
        for result in ("created", "patched", "dropped", "failed"):
            events.add_metric([result], getattr(self.events, result))
        yield events
