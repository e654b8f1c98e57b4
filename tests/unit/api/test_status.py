from __future__ import annotations

from datetime import UTC, datetime
from types import NoneType
from typing import Any, get_args, get_origin

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from etcd_operator.api.backup import BackupStatus, EtcdBackup
from etcd_operator.api.cluster import ClusterStatus, EtcdCluster, LastBackup, MemberNames
from etcd_operator.api.condition import Condition
from etcd_operator.api.kinds import KINDS, Kind
from etcd_operator.api.reading import bare, salvaged, status_apply
from etcd_operator.api.stored import ObjectMeta

DEMO = ObjectMeta(name="demo", namespace="prod", uid="u-1", generation=4, labels={"team": "a"}, finalizers=("mine",))


def values(kind: Any) -> st.SearchStrategy[Any]:
    """Values of a status's type, each field with and without one."""
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        fields = msgspec.structs.fields(kind)
        given_fields = {field.name: values(bare(field.type)) for field in fields if field.required}
        may_be = {field.name: values(bare(field.type)) for field in fields if not field.required}
        return st.fixed_dictionaries(given_fields, optional=may_be).map(lambda found: kind(**found))
    if get_origin(kind) is tuple:
        return st.lists(values(get_args(kind)[0]), max_size=3).map(tuple)
    if kind is datetime:
        return st.datetimes(timezones=st.just(UTC))
    return {str: st.text(max_size=9), int: st.integers(0, 2**63 - 1), bool: st.booleans()}[kind]


def status_type(kind: Kind) -> type[msgspec.Struct]:
    found: type[msgspec.Struct] = bare(
        next(field.type for field in msgspec.structs.fields(kind.type) if field.name == "status")
    )
    return found


def test_only_the_status_is_sent_and_who_is_meant() -> None:
    sent = status_apply(EtcdCluster, DEMO, ClusterStatus(phase="Running", size=3))

    assert sent == {
        "apiVersion": "etcd.database.coreos.com/v1beta2",
        "kind": "EtcdCluster",
        "metadata": {"name": "demo", "namespace": "prod", "uid": "u-1"},
        "status": {"phase": "Running", "size": 3},
    }


def test_what_is_not_known_is_not_sent_and_what_is_zero_or_false_is() -> None:
    cluster = status_apply(EtcdCluster, DEMO, ClusterStatus(size=0, control_paused=False, target_version=""))
    backup = status_apply(EtcdBackup, DEMO, BackupStatus(succeeded=False))

    assert cluster["status"] == {"size": 0, "controlPaused": False, "targetVersion": ""}
    assert backup["status"] == {"succeeded": False}


def test_times_and_names_are_written_as_kubernetes_reads_them() -> None:
    when = datetime(2026, 11, 15, 9, 0, 1, tzinfo=UTC)
    status = ClusterStatus(
        cluster_id="cdf818194e3a8c32",
        members_ready="1/3",
        members=MemberNames(ready=("demo-a",)),
        last_backup=LastBackup(time=when),
        conditions=(Condition(type="Ready", status="False", observed_generation=4, last_transition_time=when),),
    )

    assert status_apply(EtcdCluster, DEMO, status)["status"] == {
        "clusterID": "cdf818194e3a8c32",
        "membersReady": "1/3",
        "members": {"ready": ["demo-a"]},
        "lastBackup": {"time": "2026-11-15T09:00:01Z"},
        "conditions": [
            {
                "type": "Ready",
                "status": "False",
                "observedGeneration": 4,
                "lastTransitionTime": "2026-11-15T09:00:01Z",
            }
        ],
    }


@given(st.data())
def test_a_status_that_was_written_is_read_as_it_was(data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from([status_type(kind) for kind in KINDS]))
    status = data.draw(values(kind))

    assert salvaged(status_apply(EtcdCluster, DEMO, status)["status"], kind) == status


def test_every_field_of_a_status_can_be_absent() -> None:
    """Else it would be sent even though nothing is known of it, or not be sent though it is zero."""
    fields = [field for kind in KINDS for field in msgspec.structs.fields(status_type(kind))]

    assert [field.name for field in fields if field.default is not None] == []
    assert [field.name for field in fields if NoneType not in get_args(get_args(field.type)[0])] == []
