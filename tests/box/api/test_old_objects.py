"""What the old operator stored lives on under the new definitions: read, changed, reported on, and nothing is lost."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from typing import Any

import msgspec
import pytest

from box.kube.api import ApiError
from etcd_operator.api.backup import BackupStatus
from etcd_operator.api.cluster import ClusterStatus
from etcd_operator.api.condition import Condition
from etcd_operator.api.kinds import KINDS
from etcd_operator.api.reading import Unreadable, decode, status_apply, stored
from etcd_operator.api.restore import RestoreStatus
from tests import old_objects
from tests.box.api.definitions import CRDS, DEFINITIONS_PATH, collection, install, path_of, schema_of, serves, shipped
from tests.box.api.old_definitions import go_back
from tests.box.driving import Box, eventually

Object = dict[str, Any]

TYPES = {kind.name: kind.type for kind in KINDS}
SCHEMAS = {definition["spec"]["names"]["kind"]: schema_of(definition) for definition in shipped()}
STATUSES: dict[str, type[ClusterStatus | BackupStatus | RestoreStatus]] = {
    "EtcdCluster": ClusterStatus,
    "EtcdBackup": BackupStatus,
    "EtcdRestore": RestoreStatus,
}
READY = Condition(
    type="Ready",
    status="True",
    reason="Healthy",
    message="3 of 3 members serve.",
    last_transition_time=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
)


def each(objects: tuple[Object, ...]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("old", objects, ids=lambda old: f"{old['kind']}-{old['metadata']['name']}")


@pytest.fixture(scope="module")
def moved(box: Box, definitions: None, common_namespace: str) -> Iterator[str]:
    """A namespace with the whole corpus, stored under the old definitions, which kubectl then replaced by ours."""
    try:
        go_back(box)
        for old in old_objects.ALL:
            box.api.create(collection(old["kind"], common_namespace), old)
        box.kubectl("apply", "-f", str(CRDS))
        for kind in SCHEMAS:
            eventually(partial(serves, box, kind), within=60, pause=0.05)
        yield common_namespace
    finally:
        install(box)
        for old in old_objects.GOOD_BACKUPS:  # one has a finalizer, and the namespace would never go
            box.api.patch(path_of(old, common_namespace), {"metadata": {"finalizers": None}})


def known(schema: Object, value: Any) -> Any:
    """What of a value the schema knows. The server drops the rest, and with it a null, which says nothing."""
    if schema.get("x-kubernetes-preserve-unknown-fields"):
        return value
    if isinstance(value, dict) and "properties" in schema:
        fields = schema["properties"]
        return {
            name: known(fields[name], inner) for name, inner in value.items() if name in fields and inner is not None
        }
    if isinstance(value, list):
        return [known(schema["items"], inner) for inner in value]
    return value


def holds(now: Any, before: Any) -> bool:
    """Whether everything that was there is there, beside what was added."""
    if isinstance(before, dict):
        return isinstance(now, dict) and all(name in now and holds(now[name], before[name]) for name in before)
    return bool(now == before)


def kept(old: Object, now: Object, part: str) -> bool:
    return holds(now.get(part, {}), known(SCHEMAS[old["kind"]]["properties"][part], old.get(part, {})))


def test_kubectl_apply_makes_an_old_definition_the_new_one(box: Box, moved: str) -> None:
    for definition in shipped():
        there = box.api.get(f"{DEFINITIONS_PATH}/{definition['metadata']['name']}")

        assert holds(there["spec"], {key: definition["spec"][key] for key in ("names", "scope", "versions")})
        assert "x-kubernetes-preserve-unknown-fields" not in schema_of(there)
        assert there["metadata"]["annotations"]["etcd.database.coreos.com/crd-revision"]


@each(old_objects.ALL)
def test_nothing_known_is_lost(box: Box, moved: str, old: Object) -> None:
    now = box.api.get(path_of(old, moved))

    assert kept(old, now, "spec")
    assert kept(old, now, "status")
    assert now["metadata"].get("finalizers") == old["metadata"].get("finalizers")


@each(old_objects.ALL)
def test_it_is_read_and_what_makes_no_sense_is_named(box: Box, moved: str, old: Object) -> None:
    now = decode(TYPES[old["kind"]], stored(box.api.get(path_of(old, moved))))

    if old["metadata"]["name"] == "floppy":
        assert isinstance(now, Unreadable)
        assert now.field == "spec.storageType"
    else:
        assert not isinstance(now, Unreadable)
        assert now.metadata.name == old["metadata"]["name"]


@each(old_objects.ALL)
def test_a_label_can_be_added_even_to_one_that_would_be_refused_today(box: Box, moved: str, old: Object) -> None:
    now = box.api.patch(path_of(old, moved), {"metadata": {"labels": {"team": "storage"}}})

    assert now["metadata"]["labels"] == {"team": "storage"}
    assert kept(old, now, "spec")
    assert kept(old, now, "status")


@each(old_objects.ALL)
def test_a_status_is_reported_by_apply_with_what_was_read_of_the_old_one(box: Box, moved: str, old: Object) -> None:
    kind = TYPES[old["kind"]]
    read = decode(kind, stored(box.api.get(path_of(old, moved))))
    status = STATUSES[old["kind"]]() if isinstance(read, Unreadable) else read.status
    report = msgspec.structs.replace(status, conditions=(*(status.conditions or ()), READY))

    now = box.api.apply(status_apply(kind, read.metadata, report), subresource="status")

    written = {condition.pop("type"): condition for condition in now["status"].pop("conditions")}
    assert written.pop("Ready")["reason"] == "Healthy"
    before = dict(old.get("status", {}))
    assert written == {condition["type"]: without(condition, "type") for condition in before.pop("conditions", [])}
    assert kept(without(old, "status") | {"status": before}, now, "status")
    assert kept(old, now, "spec")


def without(obj: Object, name: str) -> Object:
    return {key: value for key, value in obj.items() if key != name}


@each(old_objects.GOOD_CLUSTERS)
def test_a_cluster_can_be_scaled(box: Box, moved: str, old: Object) -> None:
    path = path_of(old, moved)

    assert box.api.patch(path, {"spec": {"size": 7}})["spec"]["size"] == 7
    scaled = box.api.patch(f"{path}/scale", {"spec": {"replicas": old["spec"]["size"]}})
    assert scaled["spec"]["replicas"] == old["spec"]["size"]
    assert kept(old, box.api.get(path), "spec")


@each(old_objects.GOOD)
def test_the_whole_object_put_back_as_the_old_operator_did_keeps_spec_and_status(
    box: Box, moved: str, old: Object
) -> None:
    """It meant to write the status that way. That part is passed over now, and nothing breaks."""
    path = path_of(old, moved)
    before = box.api.get(path)

    after = box.api.request("PUT", path, body=before | {"status": {"phase": "Failed"}})

    assert after["spec"] == before["spec"]
    assert after.get("status") == before.get("status")


ELSEWHERE: dict[str, Object] = {
    "EtcdCluster": {"paused": True},
    "EtcdBackup": {"clientTLSSecret": "another"},
    "EtcdRestore": {"etcdCluster": {"name": "another"}},
}
# With these it is the spec as a whole that breaks a rule, so any change in it has the rule looked at again.
OF_THE_WHOLE = ("nowhere", "twofold", "floppy", "unsourced")


@each(tuple(old for old in old_objects.REFUSED_TODAY if old["metadata"]["name"] not in OF_THE_WHOLE))
def test_what_breaks_a_rule_can_be_changed_elsewhere(box: Box, moved: str, old: Object) -> None:
    change = ELSEWHERE[old["kind"]]

    assert holds(box.api.patch(path_of(old, moved), {"spec": change})["spec"], change)


@each(tuple(old for old in old_objects.REFUSED_TODAY if old["metadata"]["name"] in OF_THE_WHOLE))
def test_what_lies_nowhere_or_twice_must_be_mended_with_the_first_change(box: Box, moved: str, old: Object) -> None:
    selector = "backupStorageType" if old["kind"] == "EtcdRestore" else "storageType"
    change = ELSEWHERE[old["kind"]]

    with pytest.raises(ApiError, match=rf"exactly one of spec\.s3|spec\.{selector} must name the storage"):
        box.api.patch(path_of(old, moved), {"spec": change})
    mended = change | {selector: "S3", "s3": old_objects.S3, "gcs": None}
    assert holds(box.api.patch(path_of(old, moved), {"spec": mended})["spec"], change)


def test_what_breaks_a_rule_can_be_mended_and_not_broken_otherwise(box: Box, moved: str) -> None:
    path = f"{collection('EtcdCluster', moved)}/too-large"

    with pytest.raises(Exception, match=r"spec\.size.*less than or equal to 7"):
        box.api.patch(path, {"spec": {"size": 8}})
    assert box.api.patch(path, {"spec": {"size": 7}})["spec"]["size"] == 7


def test_a_misnamed_cluster_can_be_deleted(box: Box, moved: str) -> None:
    for old in old_objects.MISNAMED:
        assert box.api.delete(path_of(old, moved))
