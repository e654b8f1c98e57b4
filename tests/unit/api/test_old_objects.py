"""What the old operator wrote is read field by field; what of it the API server keeps, tests/box/api shows."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, TypeVar

import pytest

from etcd_operator.api.backup import EtcdBackup
from etcd_operator.api.cluster import EtcdCluster
from etcd_operator.api.kinds import KINDS, Object
from etcd_operator.api.reading import Unreadable, decode, stored
from etcd_operator.api.restore import EtcdRestore
from tests import old_objects

K = TypeVar("K", bound=Object)

TYPES = {kind.name: kind.type for kind in KINDS}


def read(kind: type[K], name: str) -> K:
    [old] = [old for old in old_objects.ALL if (old["kind"], old["metadata"]["name"]) == (kind.__name__, name)]
    found = decode(kind, stored(old))
    assert not isinstance(found, Unreadable), found
    return found


@pytest.mark.parametrize("old", old_objects.GOOD, ids=lambda old: f"{old['kind']}-{old['metadata']['name']}")
def test_every_object_that_made_sense_then_makes_sense_now(old: dict[str, Any]) -> None:
    assert not isinstance(decode(TYPES[old["kind"]], stored(old)), Unreadable)


def test_of_those_that_break_a_rule_today_only_an_unknown_storage_makes_no_sense() -> None:
    found = [decode(TYPES[old["kind"]], stored(old)) for old in old_objects.REFUSED_TODAY]

    assert [(each.metadata.name, each.field) for each in found if isinstance(each, Unreadable)] == [
        ("floppy", "spec.storageType")
    ]


def test_defaults_that_were_written_into_a_spec_are_what_was_wanted() -> None:
    cluster = read(EtcdCluster, "running")

    assert (cluster.spec.size, cluster.spec.version) == (3, "3.2.13")
    assert cluster.spec.repository == old_objects.REPOSITORY
    assert cluster.spec.pod is not None
    assert (cluster.spec.pod.busybox_image, cluster.spec.pod.cluster_domain) == ("busybox:1.28.0-glibc", "")


def test_a_status_of_then_is_read_with_its_conditions() -> None:
    status = read(EtcdCluster, "upgrading").status

    assert (status.phase, status.size, status.current_version, status.target_version) == (
        "Running",
        5,
        "3.2.13",
        "3.3.27",
    )
    assert status.conditions is not None
    assert [(each.type, each.reason) for each in status.conditions] == [
        ("Available", "Cluster available"),
        ("Upgrading", "Cluster upgrading"),
    ]
    assert {each.last_update_time for each in status.conditions} == {datetime(2019, 3, 4, 11, 22, 33, tzinfo=UTC)}


def test_names_of_members_are_read_by_whether_they_were_ready() -> None:
    members = read(EtcdCluster, "running").status.members

    assert members is not None
    assert members.ready == ("running-abcdefghij", "running-klmnopqrst")
    assert members.unready == ("running-uvwxyz0123",)


def test_tls_is_read_by_its_capitals_and_an_empty_one_is_none() -> None:
    secured, barely = (read(EtcdCluster, name).spec.tls for name in ("secured", "barely-secured"))

    assert secured is not None
    assert secured.client
    assert secured.peer
    assert barely is not None
    assert not barely.client
    assert not barely.peer


def test_types_of_kubernetes_are_passed_on_as_they_were_written() -> None:
    pod = read(EtcdCluster, "spread").spec.pod

    assert pod is not None
    assert pod.affinity == old_objects.SPREAD
    assert pod.anti_affinity


def test_a_backup_that_never_succeeded_has_a_reason_and_no_date() -> None:
    status = read(EtcdBackup, "missed").status

    assert status.succeeded is False
    assert status.reason == "failed to save snapshot (create etcd client failed)"
    assert status.last_success_date is None


def test_a_periodic_backup_keeps_its_policy_and_finalizer() -> None:
    backup = read(EtcdBackup, "periodic")

    assert backup.metadata.finalizers == (old_objects.BACKUP_FINALIZER,)
    assert backup.spec.backup_policy is not None
    assert (backup.spec.backup_policy.backup_interval_in_second, backup.spec.backup_policy.max_backups) == (125, 4)
    assert backup.status.etcd_revision == 41


def test_a_restore_keeps_its_reason_which_is_spelled_otherwise() -> None:
    assert read(EtcdRestore, "failed").status.reason == "failed to prepare seed: no such backup"
