"""Metrics as the text that Prometheus reads.

Two things of the library are mended on the way. It adds to every counter and histogram a series with its date of birth,
which doubles their number and which nobody asks for. And it ends the names of all counters in `_total`, as is right
today; but the counters of the old operator are known without it, and dashboards ask for them by name.
"""

from __future__ import annotations

from collections.abc import Iterable

from prometheus_client import CollectorRegistry, Metric, generate_latest
from prometheus_client.registry import Collector


class _WithoutBirthdays(Collector):
    def __init__(self, registry: CollectorRegistry) -> None:
        self._registry = registry

    def collect(self) -> Iterable[Metric]:
        for metric in self._registry.collect():
            metric.samples = [sample for sample in metric.samples if sample.name != f"{metric.name}_created"]
            yield metric


def exposition(registry: CollectorRegistry, *, counters_without_total: CollectorRegistry) -> bytes:
    """`counters_without_total` holds nothing else, and no name, text or label in it has `_total` for itself."""
    old = generate_latest(_WithoutBirthdays(counters_without_total))
    return generate_latest(_WithoutBirthdays(registry)) + old.replace(b"_total", b"")
