from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from etcd_operator.api.backup import EtcdBackup
from etcd_operator.api.cluster import ClusterStatus, EtcdCluster
from etcd_operator.api.kinds import KINDS, Object
from etcd_operator.api.reading import Unreadable, decode, stored
from etcd_operator.api.restore import EtcdRestore

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


def an_object(spec: Any, status: Any = None) -> dict[str, Any]:
    metadata = {"name": "demo", "namespace": "prod", "uid": "u-1", "generation": 4, "resourceVersion": "17"}
    return {"apiVersion": "etcd.database.coreos.com/v1beta2", "metadata": metadata, "spec": spec, "status": status}


def cluster(spec: Any, status: Any = None) -> EtcdCluster:
    found = decode(EtcdCluster, stored(an_object(spec, status)))
    assert isinstance(found, EtcdCluster)
    return found


def unreadable(kind: type[Object], spec: Any) -> Unreadable:
    found = decode(kind, stored(an_object(spec)))
    assert isinstance(found, Unreadable)
    return found


def test_a_size_is_all_that_is_needed() -> None:
    found = cluster({"size": 3})

    assert (found.spec.size, found.spec.version, found.spec.paused, found.spec.deletion_policy) == (
        3,
        "",
        False,
        "Delete",
    )
    assert (found.metadata.name, found.metadata.namespace, found.metadata.uid) == ("demo", "prod", "u-1")


def test_odd_spellings_are_read() -> None:
    spec = {
        "size": 3,
        "TLS": {"static": {"operatorSecret": "o", "member": {"serverSecret": "s", "peerSecret": "p"}}},
        "pod": {"DNSTimeoutInSecond": 30, "ClusterDomain": ".cluster.local", "etcdEnv": [{"name": "A", "value": "b"}]},
    }
    found = cluster(spec).spec

    assert found.tls is not None
    assert (found.tls.client, found.tls.peer) == (True, True)
    assert found.pod is not None
    assert (found.pod.dns_timeout_in_second, found.pod.cluster_domain) == (30, ".cluster.local")
    assert found.pod.etcd_env == ({"name": "A", "value": "b"},)


@pytest.mark.parametrize(
    "tls", [None, {}, {"static": {}}, {"static": {"operatorSecret": "", "member": {"peerSecret": ""}}}]
)
def test_an_empty_name_of_a_secret_is_no_tls(tls: Any) -> None:
    found = cluster({"size": 3, "TLS": tls}).spec.tls

    assert not found or (found.client, found.peer) == (False, False)


def test_what_belongs_to_kubernetes_is_passed_on_as_it_was_written() -> None:
    affinity = {"podAntiAffinity": {"a field of tomorrow": [{"x": None}]}}

    pod = cluster({"size": 1, "pod": {"affinity": affinity, "resources": {}}}).spec.pod

    assert pod is not None
    assert pod.affinity == affinity
    assert pod.resources == {}


def test_null_means_that_nothing_was_given() -> None:
    spec = {"size": 3, "paused": None, "version": None, "TLS": None, "deletionPolicy": None}
    pod = {"ClusterDomain": None, "DNSTimeoutInSecond": None, "labels": None}

    assert cluster({**spec, "pod": pod}) == cluster({"size": 3, "pod": {}})


def test_unknown_fields_are_passed_over() -> None:
    assert cluster({"size": 3, "selfHosted": {}, "backup": {"x": 1}}) == cluster({"size": 3})


def test_a_size_beyond_what_is_allowed_today_can_still_be_read() -> None:
    assert cluster({"size": 9}).spec.size == 9


@pytest.mark.parametrize(
    ("kind", "spec", "field"),
    [
        (EtcdCluster, {"size": "3"}, "spec.size"),
        (EtcdCluster, {}, "spec.size"),
        (EtcdCluster, None, "spec.size"),
        (EtcdCluster, [], "spec"),
        (EtcdCluster, {"size": 3, "pod": {"labels": {"a": 1}}}, "spec.pod.labels[...]"),
        (EtcdCluster, {"size": 3, "deletionPolicy": "Keep"}, "spec.deletionPolicy"),
        (EtcdBackup, {"etcdEndpoints": ["x"], "storageType": "Floppy"}, "spec.storageType"),
        (EtcdBackup, {"etcdEndpoints": ["x"], "storageType": "S3", "s3": {}}, "spec.s3.path"),
        (EtcdBackup, {"storageType": "S3", "etcdEndpoints": "x"}, "spec.etcdEndpoints"),
        (EtcdRestore, {"backupStorageType": "S3"}, "spec.etcdCluster"),
    ],
)
def test_a_spec_that_makes_no_sense_is_a_value_that_names_the_field(kind: type[Object], spec: Any, field: str) -> None:
    found = unreadable(kind, spec)

    assert found.field == field
    assert found.message
    assert found.metadata.name == "demo"


def test_the_conditions_of_the_old_operator_are_read() -> None:
    old = {
        "type": "Scaling",
        "status": "True",
        "lastUpdateTime": "2019-05-23T10:00:00Z",
        "lastTransitionTime": None,
        "reason": "Scaling up",
        "message": "Current cluster size: 1, desired cluster size: 3",
    }
    (found,) = cluster({"size": 3}, {"phase": "Running", "conditions": [old]}).status.conditions or ()

    assert (found.type, found.status, found.reason) == ("Scaling", "True", "Scaling up")
    assert found.last_update_time is not None
    assert found.last_transition_time is None


def test_the_part_of_a_status_that_makes_sense_is_kept() -> None:
    status = {
        "phase": 5,
        "size": 3,
        "members": {"ready": "demo-a", "unready": ["demo-b"]},
        "conditions": [7, {"status": "True"}, {"type": "Ready", "status": True, "reason": "Healthy"}],
        "lastBackup": [],
    }
    found = cluster({"size": 3}, status).status

    assert (found.phase, found.size, found.last_backup) == (None, 3, None)
    assert found.members is not None
    assert (found.members.ready, found.members.unready) == (None, ("demo-b",))
    assert [(entry.type, entry.status, entry.reason) for entry in found.conditions or ()] == [
        ("Ready", None, "Healthy")
    ]


def test_a_backup_that_never_succeeded_has_null_for_its_date() -> None:
    spec = {"etcdEndpoints": ["http://demo-client:2379"], "storageType": "S3", "s3": {"path": "bucket/key"}}
    found = decode(EtcdBackup, stored(an_object(spec, {"succeeded": False, "Reason": "no", "lastSuccessDate": None})))

    assert isinstance(found, EtcdBackup)
    assert (found.status.succeeded, found.status.reason, found.status.last_success_date) == (False, "no", None)


@given(st.sampled_from(KINDS), st.data())
def test_whatever_is_stored_is_read_or_named(kind: Any, data: st.DataObject) -> None:
    """Field names that exist, values of any sort."""
    names = {part: field_names(kind.type, part) for part in ("spec", "status")}
    spec, status = (data.draw(JSON | st.dictionaries(st.sampled_from(names[part]), JSON, max_size=6)) for part in names)

    found = decode(kind.type, stored(an_object(spec, status)))

    assert isinstance(found, kind.type) or found.field.startswith("spec")


def field_names(kind: type[msgspec.Struct], part: str) -> list[str]:
    found = next(field.type for field in msgspec.structs.fields(kind) if field.name == part)
    return [field.encode_name for field in msgspec.structs.fields(found.__origin__)]


def test_a_status_of_another_type_altogether_is_an_empty_one() -> None:
    assert cluster({"size": 3}, "broken").status == ClusterStatus()
