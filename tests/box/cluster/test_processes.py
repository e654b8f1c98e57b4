"""An operator as a process of one namespace: it makes room for an old one, tells of itself, and ends when asked to."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.box.cluster import operators
from tests.box.cluster.clusters import Cluster, manifest
from tests.box.cluster.operators import Operator
from tests.box.cluster.versions import V36
from tests.box.driving import Box

OLD_LOCK = "control-plane.alpha.kubernetes.io/leader"


class OldOperator:
    """Renews its lock every second, as the archived operator did every two."""

    def __init__(self, box: Box, namespace: str) -> None:
        self._box = box
        self._namespace = namespace
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True)

    def start(self) -> None:
        lock = {"apiVersion": "v1", "kind": "Endpoints", "metadata": {"name": "etcd-operator"}}
        self._box.kubectl("create", "-n", self._namespace, "-f", "-", given=json.dumps(lock))
        self._renew()
        self._thread.start()

    def end(self) -> None:
        """Without giving the lock back: it never did."""
        self._ended.set()
        self._thread.join()

    def _work(self) -> None:
        while not self._ended.wait(1.0):
            self._renew()

    def _renew(self) -> None:
        now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        record = {"holderIdentity": "old", "leaseDurationSeconds": 15, "acquireTime": now, "renewTime": now}
        path = f"/api/v1/namespaces/{self._namespace}/endpoints/etcd-operator"
        self._box.api.patch(path, {"metadata": {"annotations": {OLD_LOCK: json.dumps(record)}}})


@pytest.fixture
def cluster(box: Box, namespace: str, operator: Operator) -> Iterator[Cluster]:
    """One that the shared operator leaves alone."""
    box.apply(manifest("demo", namespace, {"size": 1, "version": V36}, annotations={}))
    made = Cluster(box, namespace, "demo")
    yield made
    made.close()


def test_it_does_nothing_while_the_old_operator_is_at_work(
    box: Box, namespace: str, cluster: Cluster, tmp_path: Path
) -> None:
    old = OldOperator(box, namespace)
    old.start()
    try:
        with operators.process(box, namespace, log=tmp_path / "log") as process:
            process.start()
            told = next(line for line in process.lines() if "old operator" in line.get("message", "").lower())
            assert told["level"] == "warning"
            assert cluster.pods == {}
            assert cluster.status == {}

            old.end()
            threading.Thread(target=lambda: [*process.lines()], daemon=True).start()
            cluster.settled(within=90)
    finally:
        old.end()


def test_asked_to_end_it_gives_its_lease_back(box: Box, namespace: str, cluster: Cluster, tmp_path: Path) -> None:
    with operators.process(box, namespace, log=tmp_path / "log") as process:
        process.start()
        threading.Thread(target=lambda: [*process.lines()], daemon=True).start()
        cluster.settled()

        assert process.stop() == 0
        lease = box.get("lease", "etcd-operator", namespace)

    assert not lease["spec"].get("holderIdentity")


def test_its_metrics_tell_of_clusters_while_they_are_there(box: Box, namespace: str, operator: Operator) -> None:
    def metrics() -> str:
        address = operator.pods()[operator.leader()]["status"]["podIP"]
        return box("run", "--", "curl", "-sS", "--max-time", "5", f"http://{address}:8080/metrics")

    annotations = {"etcd.database.coreos.com/scope": "clusterwide"}
    box.apply(manifest("counted", namespace, {"size": 1, "version": V36}, annotations=annotations))
    made = Cluster(box, namespace, "counted", tell=lambda: operator.log(about=namespace))
    made.settled()
    series = f'name="counted",namespace="{namespace}"'

    made.until(lambda: series in metrics(), within=20)
    assert "etcd_operator_controller_clusters" in metrics()
    box("run", "--", "curl", "-sSf", f"http://{operator.pods()[operator.leader()]['status']['podIP']}:8080/readyz")

    made.delete()
    made.until(lambda: series not in metrics(), within=30)
