"""An operator for all tests of clusters, and clusters that are made with one line and are gone after the test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.box.cluster import operators
from tests.box.cluster.clusters import CLUSTER_WIDE, Cluster, manifest
from tests.box.cluster.operators import Operator
from tests.box.cluster.versions import V36
from tests.box.driving import Box

Make = Callable[..., Cluster]


@pytest.fixture(scope="session")
def operator(box: Box) -> Iterator[Operator]:
    """The shared one."""
    yield operators.install(box)
    operators.uninstall(box)


@pytest.fixture
def etcd(box: Box, namespace: str, operator: Operator) -> Iterator[Make]:
    """Makes clusters of the shared operator: `etcd("demo", size=3)`."""
    made: list[Cluster] = []

    def make(name: str = "demo", *, create: bool = True, **spec: Any) -> Cluster:
        cluster = Cluster(box, namespace, name, tell=lambda: operator.log(about=namespace))
        made.append(cluster)
        if create:
            wanted = {"size": 3, "version": V36} | spec
            box.apply(manifest(name, namespace, wanted, annotations=CLUSTER_WIDE))
        return cluster

    yield make
    for cluster in made:
        cluster.close()
