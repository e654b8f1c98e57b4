from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec

from etcd_operator.api.cluster import ClusterStatus, EtcdCluster
from etcd_operator.api.reading import Unreadable, decode, stored
from etcd_operator.cluster.unreadable import invalid

NOW = datetime(2026, 11, 15, 12, 0, 0, 123, tzinfo=UTC)
LATER = datetime(2026, 11, 15, 13, 0, tzinfo=UTC)
STATUS = {
    "clusterID": "c1",
    "phase": "Running",
    "operation": {"name": "Replace", "victim": "demo-a"},
    "memberList": [{"name": "demo-a", "memberID": "a1"}],
    "conditions": [{"type": "Available", "status": "True"}, {"type": "Ready", "status": "True"}],
}


def a_status(status: Any, *, now: datetime = NOW) -> ClusterStatus:
    metadata = {"name": "demo", "namespace": "prod", "uid": "u", "generation": 7}
    found = decode(EtcdCluster, stored({"metadata": metadata, "spec": {"size": "three"}, "status": status}))
    assert isinstance(found, Unreadable)
    return invalid(found, stored=status, now=now)


def test_a_spec_that_makes_no_sense_loses_nothing_that_was_known() -> None:
    found = a_status(STATUS)

    assert found.operation is not None
    assert found.operation.victim == "demo-a"
    assert (found.cluster_id, found.phase, found.observed_generation) == ("c1", "Running", 7)
    assert found.member_list is not None
    assert [condition.type for condition in found.conditions or ()] == ["Available", "Ready"]


def test_it_is_told_which_field_makes_no_sense() -> None:
    *_, ready = a_status(STATUS).conditions or ()

    assert (ready.type, ready.status, ready.reason) == ("Ready", "False", "InvalidSpec")
    assert ready.message is not None
    assert ready.message.startswith("spec.size: Expected `int`, got `str`. The members stay as they are")
    assert ready.last_transition_time == NOW.replace(microsecond=0)


def test_told_again_it_is_the_same() -> None:
    first = a_status(STATUS)

    assert a_status(msgspec.to_builtins(first), now=LATER) == first


def test_an_object_that_never_had_a_status_gets_one() -> None:
    assert [condition.type for condition in a_status(None).conditions or ()] == ["Ready"]
