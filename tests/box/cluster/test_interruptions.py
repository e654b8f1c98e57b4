"""The operator is killed at each named step of each operation, before it is done and after, and always goes on.

Its log tells when a step begins and when a turn has ended. At the first line of each kind it is killed, and started
again; so every operation is interrupted as often as it has steps, twice each, and is over in one pass all the same.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.box.cluster import operators
from tests.box.cluster.clusters import Cluster, manifest
from tests.box.cluster.test_claims import ON_CLAIMS
from tests.box.cluster.versions import V35, V36, V37
from tests.box.driving import Box

BEGINS = re.compile(r"(?P<step>\w+) of .+ begins: ")


class Killer:
    """Follows an operator's log; kills it at every moment that is new, and starts it again."""

    def __init__(self, process: operators.Process) -> None:
        self._process = process
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True)
        self.moments: list[tuple[str, str, str]] = []  # operation, step, and whether it begins or is done
        self.operation = ""

    def __enter__(self) -> Killer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._process.kill()
        self._thread.join(timeout=30)

    def steps(self, operation: str) -> set[str]:
        return {step for name, step, _ in self.moments if name == operation}

    def _work(self) -> None:
        while not self._stopped.is_set():
            self._process.start()
            for line in self._process.lines():
                moment = self._moment(line)
                if moment and moment not in self.moments and not self._stopped.is_set():
                    self.moments.append(moment)
                    self._process.kill()
                    break

    def _moment(self, line: dict[str, Any]) -> tuple[str, str, str] | None:
        if found := BEGINS.match(line.get("message", "")):
            return self.operation, found["step"], "begins"
        step = line.get("step", "")
        if step and step not in ("Wait", "Refuse") and not line.get("error"):
            return self.operation, step, "done"
        return None


@pytest.fixture
def killer(box: Box, namespace: str, tmp_path: Path) -> Iterator[Killer]:
    with (
        operators.process(box, namespace, log=tmp_path / "operator.log", level="debug") as process,
        Killer(process) as made,
    ):
        yield made


@pytest.fixture
def make(box: Box, namespace: str, tmp_path: Path, operator: operators.Operator) -> Iterator[Callable[..., Cluster]]:
    """A cluster of the test's own operator. The shared one is there for the definition only."""
    made: list[Cluster] = []

    def tell() -> str:
        log = tmp_path / "operator.log"
        return "\n".join(map(operators.brief, log.read_text().splitlines()[-300:])) if log.exists() else ""

    def create(**spec: Any) -> Cluster:
        cluster = Cluster(box, namespace, "demo", tell=tell)
        made.append(cluster)
        box.apply(manifest("demo", namespace, spec, annotations={}))
        return cluster

    yield create
    for cluster in made:
        cluster.close()


def resize(cluster: Cluster, killer: Killer, operation: str, **spec: Any) -> list[str]:
    killer.operation = operation
    cluster.change(**spec)
    members = cluster.settled(within=280)
    assert cluster.voters() == members
    return members


@pytest.mark.timeout(900)
def test_without_volumes(make: Callable[..., Cluster], killer: Killer) -> None:
    killer.operation = "create"
    cluster = make(size=3, version=V35)
    first = cluster.settled(within=280)
    cluster.console.begin_writing()

    grown = resize(cluster, killer, "grow", size=5)
    shrunk = resize(cluster, killer, "shrink", size=3)
    killer.operation = "heal"
    cluster.delete_pod(shrunk[0], at_once=True)
    healed = cluster.settled(without=[shrunk[0]], within=280)
    upgraded = resize(cluster, killer, "upgrade", version=V36)
    last = resize(cluster, killer, "upgrade again", version=V37)

    assert set(first) < set(grown)
    assert set(shrunk) < set(grown)
    assert len(set(healed) & set(shrunk)) == 2  # nobody was replaced who need not be
    assert healed == upgraded == last
    assert cluster.console.end_writing().lost == []
    assert killer.steps("create") >= {"StartMembers", "AddMember", "PromoteLearner"}
    assert killer.steps("grow") >= {"StartMembers", "AddMember", "PromoteLearner"}
    assert killer.steps("shrink") >= {"RemoveMember", "DeletePod"}
    assert killer.steps("heal") >= {"StartMembers", "RemoveMember", "AddMember", "PromoteLearner"}
    assert killer.steps("upgrade") >= {"PullImage", "MoveLeader", "ChangeImage"}
    assert killer.steps("upgrade again") >= {"PullImage", "ChangeImage"}


@pytest.mark.timeout(900)
def test_with_volumes(make: Callable[..., Cluster], killer: Killer) -> None:
    killer.operation = "create"
    cluster = make(size=3, version=V35, pod=ON_CLAIMS)
    first = cluster.settled(within=280)
    cluster.console.begin_writing()

    killer.operation = "return"
    cluster.delete_pod(first[0], at_once=True)
    cluster.until(lambda: "ReturnMember" in killer.steps("return"), within=60)
    returned = cluster.settled(within=280)
    upgraded = resize(cluster, killer, "upgrade", version=V36)
    shrunk = resize(cluster, killer, "shrink", size=1)
    cluster.until(lambda: list(cluster.claims) == shrunk, within=120)

    assert first == returned == upgraded
    assert cluster.console.end_writing().lost == []
    assert killer.steps("upgrade") >= {"PullImage", "DeletePod", "ReturnMember"}
    assert killer.steps("shrink") >= {"RemoveMember", "DeletePod", "DeleteClaim"}
