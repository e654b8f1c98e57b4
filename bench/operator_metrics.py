"""What the operator and etcd count themselves, read from their metrics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from prometheus_client.parser import text_string_to_metric_families

CALLS = "etcd_operator_kube_requests_total"
STANDING = frozenset({"watch"})  # verbs of calls that last: they are opened again every few minutes, whatever happens
HEARTBEAT = frozenset({"leases"})

Samples = Mapping[str, list[tuple[Mapping[str, str], float]]]


def samples_in(text: str) -> Samples:
    found: dict[str, list[tuple[Mapping[str, str], float]]] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            found.setdefault(sample.name, []).append((sample.labels, sample.value))
    return found


@dataclass(frozen=True)
class Scrape:
    """The operator at one moment."""

    megabytes: float  # resident
    cpu_seconds: float
    calls: Mapping[str, float]  # of the Kubernetes API, by verb and resource

    @classmethod
    def read(cls, text: str) -> Self:
        samples = samples_in(text)
        calls: Counter[str] = Counter()
        for labels, value in samples.get(CALLS, []):
            calls[f"{labels['verb']} {labels['resource']}"] += int(value)
        return cls(
            megabytes=samples["process_resident_memory_bytes"][0][1] / 1e6,
            cpu_seconds=samples["process_cpu_seconds_total"][0][1],
            calls=calls,
        )

    def calls_since(self, before: Scrape, *, heartbeat: bool = False) -> dict[str, float]:
        """Without watches, and without the lease unless it is wanted."""
        more = {what: count - before.calls.get(what, 0) for what, count in self.calls.items()}
        return {
            what: count
            for what, count in more.items()
            if count and _verb(what) not in STANDING and (heartbeat or _resource(what) not in HEARTBEAT)
        }


def _verb(what: str) -> str:
    return what.partition(" ")[0]


def _resource(what: str) -> str:
    return what.partition(" ")[2]


def etcd_calls(text: str) -> float:
    """How many calls a member has answered since it started, whoever made them."""
    handled = samples_in(text).get("grpc_server_handled_total", [])
    return sum(value for _, value in handled)
