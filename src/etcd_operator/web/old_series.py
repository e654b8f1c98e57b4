"""The seven metrics of the old operator, under their names, for dashboards and alerts that ask for them.

They mean what they meant, but for two things. `reconcile_failed` had the raw text of an error as its label, without
bound; it has the short reason now. `clusters_failed` counted everything heard of clusters that had failed; it counts
how often a cluster came to fail. The counters' names do not end in `_total`, so they have a registry of their own.
"""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from etcd_operator.api.cluster import ClusterStatus
from etcd_operator.kube.store import Key

BUCKETS = tuple(0.1 * 2**n for n in range(10))
FAILED = "Failed"


class OldSeries:
    def __init__(self, registry: CollectorRegistry, counters: CollectorRegistry) -> None:
        prefix = "etcd_operator_controller_clusters"
        self._clusters = Gauge(prefix, "Clusters that are managed", registry=registry)
        self._created = Counter(f"{prefix}_created", "Clusters that came, also by a restart", registry=counters)
        self._deleted = Counter(f"{prefix}_deleted", "Clusters that were deleted", registry=counters)
        self._modified = Counter(f"{prefix}_modified", "Changes of clusters' specs", registry=counters)
        self._failed = Counter(f"{prefix}_failed", "Times that a cluster came to fail", registry=counters)
        prefix = "etcd_operator_cluster_reconcile"
        text = "Seconds that turns of a cluster's loop took"
        self._duration = Histogram(f"{prefix}_duration", text, ["ClusterName"], registry=registry, buckets=BUCKETS)
        self._errors = Counter(f"{prefix}_failed", "Turns that failed, by reason", ["Reason"], registry=counters)

    def turned(self, key: Key, *, before: ClusterStatus | None, status: ClusterStatus | None, seconds: float) -> None:
        """`before` is the status of the turn before, None if there was none."""
        self._duration.labels(ClusterName=key.name).observe(seconds)
        if before is None:
            self._clusters.inc()
            self._created.inc()
        elif status is not None and _newer(before, status):
            self._modified.inc()
        if status is not None and status.phase == FAILED and (before is None or before.phase != FAILED):
            self._failed.inc()

    def failed(self, reason: str) -> None:
        self._errors.labels(Reason=reason).inc()

    def forget(self, key: Key, *, last_of_its_name: bool) -> None:
        """Two namespaces may each have a cluster of one name, and the old label is the name alone."""
        self._clusters.dec()
        self._deleted.inc()
        if last_of_its_name:
            self._duration.remove(key.name)


def _newer(before: ClusterStatus, after: ClusterStatus) -> bool:
    """A first generation is none that was changed to: the turn before it may have failed early."""
    return bool(before.observed_generation) and (after.observed_generation or 0) > (before.observed_generation or 0)
