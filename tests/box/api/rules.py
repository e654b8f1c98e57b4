"""One row for each rule that the definitions have: a value that it refuses, one just inside, and what a user reads.

A value is put into a good object at a path. `covers` names what is proven, as `path keyword` for what the schema checks
by itself; a rule written in CEL is recognised by its message, which is what the row expects to read.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

Object = dict[str, Any]

API_VERSION = "etcd.database.coreos.com/v1beta2"
S3: Object = {"path": "bucket/key", "awsSecret": "aws"}
BLOCKS = {"S3": "s3", "ABS": "abs", "GCS": "gcs", "OSS": "oss"}
GOOD: dict[str, Object] = {
    "EtcdCluster": {"size": 3, "version": "3.6.16"},
    "EtcdBackup": {"etcdEndpoints": ["http://demo-client:2379"], "storageType": "S3", "s3": S3},
    "EtcdRestore": {"etcdCluster": {"name": "demo"}, "backupStorageType": "S3", "s3": S3},
}
ABSENT = object()


@dataclass(frozen=True)
class Row:
    kind: str
    at: str
    refused: Any
    passes: Any
    says: str
    covers: str = ""

    def __str__(self) -> str:
        return f"{self.kind}-{self.covers or self.at}".replace(" ", "-")


def good(kind: str, name: str = "tried") -> Object:
    spec = copy.deepcopy(GOOD[kind])
    return {"apiVersion": API_VERSION, "kind": kind, "metadata": {"name": name}, "spec": spec}


def with_value(obj: Object, path: str, value: Any) -> Object:
    """The same object with another value at a path, or without it."""
    made = copy.deepcopy(obj)
    *parents, last = path.split(".")
    place = made
    for name in parents:
        place = place.setdefault(name, {})
    if value is ABSENT:
        place.pop(last, None)
    else:
        place[last] = value
    return made


def named(kind: str, at: str, refused: Any, passes: Any, says: str, keyword: str) -> Row:
    """A rule that the schema states without CEL, at the path where the value is put."""
    return Row(kind, at, refused, passes, says, covers=f"{at} {keyword}")


def too_long(kind: str, at: str, most: int) -> Row:
    return named(kind, at, "x" * (most + 1), "x" * most, f"{at}: Too long: may not be more than {most}", "maxLength")


def lacking(kind: str, at: str, whole: Any) -> Row:
    parent, _, last = at.rpartition(".")
    return Row(kind, at, ABSENT, whole, f"{at}: Required value", covers=f"{parent} required {last}")


def static(**secrets: str) -> Object:
    """`spec.TLS.static` by its leaves."""
    member = {name: value for name, value in secrets.items() if name != "operatorSecret"}
    return {key: value for key, value in {**secrets, "member": member}.items() if key in {"operatorSecret", "member"}}


BOTH = static(operatorSecret="operator", serverSecret="server")
RESERVED = "spec.pod.labels must not have the key app nor one that begins with etcd_"
RELEASED = "spec.version must be a released version of etcd"
OPERATOR_ALONE = "spec.TLS.static.operatorSecret is given, so spec.TLS.static.member.serverSecret must be given too"
SERVER_ALONE = "spec.TLS.static.member.serverSecret is given, so spec.TLS.static.operatorSecret must be given too"

# Rules about a change, which no single object can break: test_tls_switch.py breaks them.
CLIENT_SWITCH = "spec.TLS: TLS for clients cannot be switched on or off once the cluster runs"
PEER_SWITCH = "spec.TLS: TLS between members cannot be switched on or off once the cluster runs"
SWITCHES = (CLIENT_SWITCH, PEER_SWITCH)

CLUSTER_ROWS: tuple[Row, ...] = (
    Row("EtcdCluster", "spec", ABSENT, GOOD["EtcdCluster"], "spec: Required value", covers=" required spec"),
    lacking("EtcdCluster", "spec.size", 3),
    named("EtcdCluster", "spec.size", 0, 1, "spec.size in body should be greater than or equal to 1", "minimum"),
    named("EtcdCluster", "spec.size", 8, 7, "spec.size in body should be less than or equal to 7", "maximum"),
    *(
        Row("EtcdCluster", "spec.version", bad, good, RELEASED)
        for bad, good in (
            ("latest", "3.6.16"),
            ("3.6.0-rc.1", "v3.6.0"),
            ("3.6", "3.6.0"),
            ("3.6.16 ", ""),
            ("3.6.16-arm64", "3.2.13"),
        )
    ),
    named(
        "EtcdCluster",
        "spec.version",
        f"{'1' * 60}.1.11",
        f"{'1' * 59}.1.11",
        "spec.version: Too long: may not be more than 64",
        "maxLength",
    ),
    *(
        Row("EtcdCluster", "spec.pod.labels", {bad: "mine"}, {good: "mine"}, RESERVED)
        for bad, good in (("app", "apps"), ("etcd_node", "etcd"), ("etcd_", "my-etcd_node"))
    ),
    named(
        "EtcdCluster",
        "spec.pod.labels",
        {f"label-{number}": "" for number in range(65)},
        {f"label-{number}": "" for number in range(64)},
        "spec.pod.labels: Too many: 65: must have at most 64 items",
        "maxProperties",
    ),
    *(
        named("EtcdCluster", at, -1, 0, f"{at} in body should be greater than or equal to 0", "minimum")
        for at in ("spec.pod.terminationGracePeriodSeconds", "spec.pod.DNSTimeoutInSecond")
    ),
    Row("EtcdCluster", "spec.pod.ClusterDomain", "x.local", ".x.local", "spec.pod.ClusterDomain must begin with a dot"),
    named(
        "EtcdCluster",
        "spec.pod.ClusterDomain",
        "." + "x" * 253,
        "." + "x" * 252,
        "spec.pod.ClusterDomain: Too long: may not be more than 253",
        "maxLength",
    ),
    *(
        Row("EtcdCluster", "spec.TLS.static", static(**bad), good, OPERATOR_ALONE)
        for bad, good in (
            ({"operatorSecret": "operator"}, BOTH),
            ({"operatorSecret": "operator", "serverSecret": "", "peerSecret": "peer"}, static(peerSecret="peer")),
        )
    ),
    *(
        Row("EtcdCluster", "spec.TLS.static", static(**bad), good, SERVER_ALONE)
        for bad, good in (
            ({"serverSecret": "server"}, BOTH),
            ({"serverSecret": "server", "operatorSecret": ""}, static(serverSecret="", operatorSecret="")),
        )
    ),
    Row(
        "EtcdCluster",
        "spec.TLS.static",
        BOTH | {"operatorSecret": "x" * 254},
        BOTH | {"operatorSecret": "x" * 253},
        "spec.TLS.static.operatorSecret: Too long: may not be more than 253",
        covers="spec.TLS.static.operatorSecret maxLength",
    ),
    Row(
        "EtcdCluster",
        "spec.TLS.static",
        static(operatorSecret="operator", serverSecret="x" * 254),
        static(operatorSecret="operator", serverSecret="x" * 253),
        "spec.TLS.static.member.serverSecret: Too long: may not be more than 253",
        covers="spec.TLS.static.member.serverSecret maxLength",
    ),
    too_long("EtcdCluster", "spec.TLS.static.member.peerSecret", 253),
    too_long("EtcdCluster", "spec.authSecret", 253),
    named(
        "EtcdCluster",
        "spec.deletionPolicy",
        "Keep",
        "Retain",
        'spec.deletionPolicy: Unsupported value: "Keep": supported values: "Delete", "Retain"',
        "enum",
    ),
    named("EtcdCluster", "metadata.name", "x" * 53, "x" * 52, "metadata.name: Too long: may not be", "maxLength"),
    *(
        named("EtcdCluster", "metadata.name", bad, good, "metadata.name in body should match", "pattern")
        for bad, good in (("3rd", "third3"), ("my.etcd", "my-etcd"))
    ),
)


def storage_rows(kind: str, selector: str) -> tuple[Row, ...]:
    """Where a backup lies: the same fields in EtcdBackup and EtcdRestore."""
    base = {key: value for key, value in GOOD[kind].items() if key not in {selector, "s3"}}

    def spec(storage: str, **blocks: Object) -> Object:
        return base | {selector: storage} | blocks

    one = "exactly one of spec.s3, spec.abs, spec.gcs, spec.oss must be given"
    named_one = f"spec.{selector} must name the storage that is given"
    return (
        Row(kind, "spec", ABSENT, GOOD[kind], "spec: Required value", covers=" required spec"),
        lacking(kind, f"spec.{selector}", "S3"),
        named(kind, f"spec.{selector}", "Floppy", "S3", f'spec.{selector}: Unsupported value: "Floppy"', "enum"),
        Row(kind, "spec", spec("S3"), spec("S3", s3=S3), one),
        Row(kind, "spec", spec("S3", s3=S3, gcs={"path": "b/k"}), spec("GCS", gcs={"path": "b/k"}), one),
        Row(kind, "spec", spec("ABS", s3=S3), spec("ABS", abs={"path": "c/k"}), named_one),
        Row(kind, "spec", spec("S3", oss={"path": "b/k"}), spec("OSS", oss={"path": "b/k"}), named_one),
        *(row for storage, block in BLOCKS.items() for row in path_rows(kind, block, spec(storage))),
    )


def path_rows(kind: str, block: str, spec: Object) -> tuple[Row, ...]:
    place = "container" if block == "abs" else "bucket"
    message = f"spec.{block}.path must be <{place}>/<key>, with neither part empty and no scheme such as s3:// in front"

    def at(path: str) -> Object:
        return spec | {block: {"path": path}}

    shapes = (
        ("bucket", "bucket/key"),
        ("bucket/", "bucket/deep/key"),
        ("/key", "b/k"),
        ("", "b//k"),
        ("s3://bucket/key", "bucket/s3://key"),
    )
    return (
        *(Row(kind, "spec", at(bad), at(good), message) for bad, good in shapes),
        Row(
            kind,
            "spec",
            at("b/" + "k" * 1246),
            at("b/" + "k" * 1245),
            f"spec.{block}.path: Too long: may not be more than 1247",
            covers=f"spec.{block}.path maxLength",
        ),
        Row(
            kind,
            "spec",
            spec | {block: {}},
            at("b/k"),
            f"spec.{block}.path: Required value",
            covers=f"spec.{block} required path",
        ),
    )


BACKUP_ROWS: tuple[Row, ...] = (
    *storage_rows("EtcdBackup", "storageType"),
    lacking("EtcdBackup", "spec.etcdEndpoints", ["http://demo-client:2379"]),
    named(
        "EtcdBackup",
        "spec.etcdEndpoints",
        [],
        ["http://demo-client:2379"],
        "spec.etcdEndpoints in body should have at least 1 items",
        "minItems",
    ),
    *(
        named("EtcdBackup", at, -1, 0, f"{at} in body should be greater than or equal to 0", "minimum")
        for at in ("spec.backupPolicy.backupIntervalInSecond", "spec.backupPolicy.maxBackups")
    ),
)

RESTORE_ROWS: tuple[Row, ...] = (
    *storage_rows("EtcdRestore", "backupStorageType"),
    lacking("EtcdRestore", "spec.etcdCluster", {"name": "demo"}),
    lacking("EtcdRestore", "spec.etcdCluster.name", "demo"),
    named(
        "EtcdRestore",
        "spec.etcdCluster.name",
        "",
        "x",
        "spec.etcdCluster.name in body should be at least 1 chars long",
        "minLength",
    ),
    too_long("EtcdRestore", "spec.etcdCluster.name", 253),
)

ROWS: tuple[Row, ...] = (*CLUSTER_ROWS, *BACKUP_ROWS, *RESTORE_ROWS)
