"""What Prometheus is told of each cluster, made anew from the last turn's outcome whenever it asks.

Nothing is kept up to date by hand: a series is there because the status says so, and is gone with its cluster or with
the label that changed. No label holds a text that is not one of a few words, so the number of series is bounded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from prometheus_client import Metric
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from etcd_operator.api.cluster import ClusterStatus, MemberStatus
from etcd_operator.kube.store import Key

WHO = ("namespace", "name")
STATUSES = ("True", "False", "Unknown")
WAIT = "Wait"  # the step of a turn that found nothing to do
VOTERS = ("Leader", "Voter")
LEARNER = "Learner"


@dataclass
class Known:
    """Of one cluster."""

    status: ClusterStatus = field(default_factory=ClusterStatus)
    turned_at: float = 0.0  # as people count seconds
    steps: Counter[str] = field(default_factory=Counter)


class ClusterSeries(Collector):
    def __init__(self) -> None:
        self._known: dict[Key, Known] = {}

    def __len__(self) -> int:
        return len(self._known)

    def __contains__(self, key: Key) -> bool:
        return key in self._known

    def turned(self, key: Key, *, status: ClusterStatus | None, step: str, at: float) -> None:
        """A turn has ended; one that failed early has no status, and the one before it still counts."""
        known = self._known.setdefault(key, Known())
        known.turned_at = at
        if status is not None:
            known.status = status
        if step and step != WAIT:
            known.steps[step] += 1

    def status(self, key: Key) -> ClusterStatus | None:
        known = self._known.get(key)
        return known.status if known else None

    def forget(self, key: Key) -> bool:
        """Whether it was known."""
        return self._known.pop(key, None) is not None

    def names(self) -> set[str]:
        return {key.name for key in self._known}

    def describe(self) -> Iterable[Metric]:
        return _families().values()

    def collect(self) -> Iterable[Metric]:
        families = _families()
        for key, known in list(self._known.items()):  # a copy: this runs in a thread of its own
            for name, labels, value in _samples(known):
                families[name].add_metric((*key, *labels), value)
        return families.values()


def _families() -> dict[str, GaugeMetricFamily | CounterMetricFamily]:
    prefix = "etcd_operator_"

    def gauge(name: str, text: str, *labels: str) -> GaugeMetricFamily:
        return GaugeMetricFamily(prefix + name, text, labels=(*WHO, *labels))

    steps = "Steps taken, by what they were: members added, promoted, removed, upgraded, and so on"
    return {
        "last_reconcile": gauge("last_reconcile_timestamp_seconds", "When the last turn of the cluster's loop ended"),
        "info": gauge("cluster_info", "1, with the versions as labels", "version", "target_version"),
        "condition": gauge("cluster_condition", "1 for the status that a condition has", "type", "status"),
        "members": gauge("cluster_members", "Members: desired, present, ready, learner", "state"),
        "margin": gauge("cluster_quorum_margin", "Voters that may still fail; below 0 the majority is lost"),
        "paused": gauge("cluster_paused", "1 while the operator leaves the cluster alone"),
        "operation": gauge("operation_in_progress", "1 while an operation is under way", "operation"),
        "operation_start": gauge("operation_start_timestamp_seconds", "When the operation began", "operation"),
        "steps": CounterMetricFamily(f"{prefix}cluster_steps", steps, labels=(*WHO, "step")),
    }


Sample = tuple[str, tuple[str, ...], float]


def _samples(known: Known) -> Iterator[Sample]:
    status = known.status
    yield "last_reconcile", (), known.turned_at
    yield "info", (status.current_version or "", status.target_version or ""), 1.0
    yield "paused", (), float(bool(status.control_paused))
    for condition in status.conditions or ():
        for word in STATUSES:
            yield "condition", (condition.type, word), float(condition.status == word)
    yield from _members(status)
    if operation := status.operation:
        yield "operation", (operation.name,), 1.0
        if operation.since:
            yield "operation_start", (operation.name,), operation.since.timestamp()
    for step, count in list(known.steps.items()):
        yield "steps", (step,), float(count)


def _members(status: ClusterStatus) -> Iterator[Sample]:
    members = status.member_list or ()
    wanted = (status.members_ready or "").rpartition("/")[2]
    if wanted.isdecimal():
        yield "members", ("desired",), float(wanted)
    yield "members", ("present",), float(status.size or 0)
    yield "members", ("ready",), float(sum(bool(member.ready) for member in members))
    yield "members", ("learner",), float(sum(member.role == LEARNER for member in members))
    if (margin := quorum_margin(members)) is not None:
        yield "margin", (), float(margin)


def quorum_margin(members: Iterable[MemberStatus]) -> int | None:
    """How many of the voters that serve could be spared; None where there are no voters yet."""
    voters = [member for member in members if member.role in VOTERS]
    if not voters:
        return None
    return sum(bool(voter.ready) for voter in voters) - (len(voters) // 2 + 1)
