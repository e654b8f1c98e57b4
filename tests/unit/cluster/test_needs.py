from __future__ import annotations

from typing import Any

import msgspec
import pytest

from etcd_operator.api.cluster_names import BORN
from etcd_operator.cluster.observe import is_born, needs_of
from etcd_operator.plan.view import Body, Stage
from etcd_operator.releases.version import Version
from tests.unit.cluster.clusters import a_cluster
from tests.unit.cluster.views import a_view


def needs(runs: str, wanted: str) -> list[str]:
    body = Body(name="demo-a", uid="u", stage=Stage.STARTED, version=Version.parse(runs))
    view = a_view(cluster=a_cluster(version=wanted), bodies={"demo-a": body})
    return [type(need).__name__ for need in needs_of(view)]


@pytest.mark.parametrize(
    ("runs", "wanted", "asked"),
    [
        ("3.6.16", "3.6.16", []),
        ("3.5.35", "3.6.16", []),
        ("3.6.16", "3.7.3", ["FreshRaftSnapshotOnEveryMember"]),
        ("3.4.23", "3.5.35", ["AuthenticationOff"]),
        ("3.4.23", "3.6.16", []),
        ("3.7.3", "3.6.16", []),
    ],
)
def test_what_only_an_upgrade_must_know_is_asked_where_one_may_begin(runs: str, wanted: str, asked: list[str]) -> None:
    assert needs(runs, wanted) == asked


def test_of_a_cluster_without_members_nothing_is_asked() -> None:
    assert needs_of(a_view()) == ()


@pytest.mark.parametrize(
    ("annotations", "status", "born"),
    [
        ({}, {}, False),
        ({BORN: "c1"}, {}, True),
        ({}, {"phase": "Creating"}, False),
        ({}, {"phase": "Running"}, True),
    ],
)
def test_a_cluster_has_begun_to_live_if_the_object_or_the_old_operator_says_so(
    annotations: dict[str, str], status: dict[str, Any], born: bool
) -> None:
    cluster = a_cluster()
    metadata = msgspec.structs.replace(cluster.metadata, annotations=annotations)  # type: ignore[type-var]
    known = msgspec.convert(status, type(cluster.status))

    assert is_born(msgspec.structs.replace(cluster, metadata=metadata, status=known)) is born
