"""How kubectl shows and addresses the three kinds: short names, the category, columns, the scale."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.box.api.definitions import collection
from tests.box.driving import Box, CommandFailedError

Object = dict[str, Any]

API_VERSION = "etcd.database.coreos.com/v1beta2"
S3 = {"path": "bucket/key", "awsSecret": "aws"}
SPECS: dict[str, Object] = {
    "EtcdCluster": {"size": 3, "version": "3.6.16"},
    "EtcdBackup": {"etcdEndpoints": ["http://demo-client:2379"], "storageType": "S3", "s3": S3},
    "EtcdRestore": {"etcdCluster": {"name": "demo"}, "backupStorageType": "S3", "s3": S3},
}
LONG_AGO = "2020-01-01T00:00:00Z"
READY = {
    "type": "Ready",
    "status": "True",
    "reason": "Healthy",
    "message": "3 of 3 members serve.",
    "lastTransitionTime": LONG_AGO,
}
STATUSES: dict[str, Object] = {
    "EtcdCluster": {
        "phase": "Running",
        "size": 3,
        "membersReady": "3/3",
        "leader": "demo-abcdefghij",
        "currentVersion": "3.6.16",
        "targetVersion": "3.6.17",
        "dbSize": "24Mi",
        "endpoint": "http://demo-client.here.svc:2379",
        "certificatesExpire": "2090-01-01T00:00:00Z",
        "lastBackup": {"time": LONG_AGO},
        "conditions": [READY],
    },
    "EtcdBackup": {
        "phase": "Waiting",
        "cluster": "demo",
        "size": "41Mi",
        "etcdRevision": 8812,
        "took": "12s",
        "object": "bucket/key_v8812",
        "Reason": "the bucket is gone",
    },
    "EtcdRestore": {"source": "s3:bucket/key", "step": "2/4 SeedingFirstMember", "reason": "none yet"},
}


@pytest.fixture(scope="module")
def here(box: Box, common_namespace: str) -> str:
    """A namespace with one object of each kind, as an operator would report it."""
    for kind, spec in SPECS.items():
        path = collection(kind, common_namespace)
        box.api.create(path, {"apiVersion": API_VERSION, "kind": kind, "metadata": {"name": "demo"}, "spec": spec})
        box.api.patch(f"{path}/demo/status", {"status": STATUSES[kind]})
    return common_namespace


def table(text: str) -> dict[str, str]:
    """The one row of what `kubectl get` prints, by the heads of its columns."""
    head, row = text.splitlines()
    starts = [place for place, letter in enumerate(head) if letter != " " and (place == 0 or head[place - 1] == " ")]
    ends = [*starts[1:], max(len(head), len(row))]
    return {head[start:end].strip(): row[start:end].strip() for start, end in zip(starts, ends, strict=True)}


@pytest.mark.parametrize("short", ["etcd", "etcdbk", "etcdrs"])
def test_each_kind_has_a_short_name(box: Box, here: str, short: str) -> None:
    assert box.kubectl("get", short, "demo", "-n", here, "-o", "name").strip().endswith("/demo")


def test_the_columns_of_a_cluster_say_how_it_is(box: Box, here: str) -> None:
    shown = table(box.kubectl("get", "etcd", "demo", "-n", here))
    ages = {column: shown.pop(column) for column in ("BACKUP", "AGE")}

    assert shown == {
        "NAME": "demo",
        "MEMBERS": "3/3",
        "STATUS": "Healthy",
        "LEADER": "demo-abcdefghij",
        "VERSION": "3.6.16",
    }
    assert ages["BACKUP"].endswith(("y", "d", "y1d"))
    assert ages["AGE"].endswith(("s", "m"))


def test_the_wide_columns_of_a_cluster_say_the_rest(box: Box, here: str) -> None:
    shown = table(box.kubectl("get", "etcd", "demo", "-n", here, "-o", "wide"))

    assert shown["TARGET"] == "3.6.17"
    assert shown["DB"] == "24Mi"
    assert shown["ENDPOINT"] == "http://demo-client.here.svc:2379"
    assert shown["CERTS"] == "2090-01-01T00:00:00Z"
    assert shown["MESSAGE"] == "3 of 3 members serve."


def test_the_columns_of_a_backup_say_what_is_stored(box: Box, here: str) -> None:
    shown = table(box.kubectl("get", "etcdbk", "-n", here, "-o", "wide"))

    assert shown.pop("AGE").endswith(("s", "m"))
    assert shown == {
        "NAME": "demo",
        "CLUSTER": "demo",
        "PHASE": "Waiting",
        "SIZE": "41Mi",
        "REVISION": "8812",
        "TOOK": "12s",
        "OBJECT": "bucket/key_v8812",
        "REASON": "the bucket is gone",
    }


def test_the_columns_of_a_restore_say_how_far_it_is(box: Box, here: str) -> None:
    shown = table(box.kubectl("get", "etcdrs", "-n", here, "-o", "wide"))

    assert shown.pop("AGE").endswith(("s", "m"))
    assert shown == {
        "NAME": "demo",
        "SOURCE": "s3:bucket/key",
        "TARGET": "demo",
        "STEP": "2/4 SeedingFirstMember",
        "REASON": "none yet",
    }


def test_the_category_shows_all_kinds_at_once(box: Box, here: str, tmp_path: Path) -> None:
    """It is not called `etcd`: kubectl tries categories first, and `kubectl get etcd demo` would be an error."""

    def names(what: str) -> list[str]:
        """With a cache of its own: kubectl remembers categories for ten minutes, of other tests' definitions too."""
        shown = box.kubectl("get", what, "-n", here, "-o", "name", "--cache-dir", str(tmp_path))
        return sorted(name.partition(".")[0] for name in shown.split())

    assert names("etcd-operator") == ["etcdbackup", "etcdcluster", "etcdrestore"]
    assert names("etcd") == ["etcdcluster"]


def test_kubectl_scale_changes_the_size_within_its_bounds(box: Box, here: str) -> None:
    def scale(size: int) -> str:
        return box.kubectl("scale", "etcd", "demo", "-n", here, f"--replicas={size}")

    assert "scaled" in scale(5)
    assert box.get("etcd", "demo", here)["spec"]["size"] == 5
    with pytest.raises(CommandFailedError, match=r"spec\.size.*less than or equal to 7"):
        scale(8)
    assert "scaled" in scale(3)


def test_the_scale_shows_the_size_wanted_and_the_size_reached(box: Box, here: str) -> None:
    scale = box.api.get(f"{collection('EtcdCluster', here)}/demo/scale")

    assert (scale["spec"]["replicas"], scale["status"]["replicas"]) == (3, 3)
