"""Objects as the old operator left them: what a cluster that moves to this one has stored.

It wrote whole objects, so its defaults stand in the spec, empty structs in both halves and `null` where a time was
not set; its conditions have a shape of their own, with blanks in the reasons. It checked nothing at admission, so some
stored objects break rules of today: those are kept apart, since they cannot be changed in every way.
"""

from __future__ import annotations

from typing import Any

Object = dict[str, Any]

API_VERSION = "etcd.database.coreos.com/v1beta2"
BACKUP_FINALIZER = "backup-operator-periodic"
REPOSITORY = "registry.example/coreos/etcd"


def etcd_cluster(
    name: str, *, spec: Object | None = None, status: Object | None = None, annotations: Object | None = None
) -> Object:
    """With the defaults that the old operator persisted."""
    defaults = {"size": 3, "repository": REPOSITORY, "version": "3.2.13"}
    metadata: Object = {"name": name} | ({"annotations": annotations} if annotations else {})
    return _stored("EtcdCluster", metadata, spec=defaults | (spec or {}), status=status)


def etcd_backup(name: str, *, spec: Object, status: Object | None = None, finalizers: tuple[str, ...] = ()) -> Object:
    metadata: Object = {"name": name} | ({"finalizers": list(finalizers)} if finalizers else {})
    endpoints = {"etcdEndpoints": ["http://demo-client:2379"]}
    return _stored("EtcdBackup", metadata, spec=endpoints | spec, status=status)


def etcd_restore(name: str, *, spec: Object | None = None, status: Object | None = None) -> Object:
    defaults: Object = {"etcdCluster": {"name": name}, "backupStorageType": "S3", "s3": S3}
    return _stored("EtcdRestore", {"name": name}, spec=defaults | (spec or {}), status=status)


def _stored(kind: str, metadata: Object, *, spec: Object, status: Object | None) -> Object:
    stored = {"apiVersion": API_VERSION, "kind": kind, "metadata": metadata, "spec": spec}
    return stored if status is None else stored | {"status": status}


def condition(kind: str, reason: str, message: str = "") -> Object:
    written = {
        "type": kind,
        "status": "True",
        "lastUpdateTime": "2019-03-04T11:22:33Z",
        "lastTransitionTime": "2019-03-04T11:22:33Z",
        "reason": reason,
    }
    return written | ({"message": message} if message else {})


def cluster_status(phase: str, **fields: object) -> Object:
    """The fields that were written always, empty or not, and those that are given."""
    always: Object = {"phase": phase, "size": 0, "members": {}, "currentVersion": "", "targetVersion": ""}
    return always | fields


POLICY_DEFAULTS: Object = {"resources": {}, "busyboxImage": "busybox:1.28.0-glibc", "ClusterDomain": ""}
S3: Object = {"path": "backups/demo/etcd.backup", "awsSecret": "aws", "endpoint": "", "forcePathStyle": False}
SERVING: Object = {"serviceName": "demo-client", "clientPort": 2379}
AVAILABLE = condition("Available", "Cluster available")
SPREAD: Object = {
    "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {"labelSelector": {"matchLabels": {"etcd_cluster": "spread"}}, "topologyKey": "kubernetes.io/hostname"}
        ]
    }
}
STATIC_TLS: Object = {
    "static": {
        "member": {"peerSecret": "etcd-peer-tls", "serverSecret": "etcd-server-tls"},
        "operatorSecret": "etcd-client-tls",
    }
}
FULL_POLICY: Object = {
    "labels": {"team": "storage"},
    "nodeSelector": {"disk": "ssd"},
    "tolerations": [{"key": "dedicated", "operator": "Equal", "value": "etcd", "effect": "NoSchedule"}],
    "etcdEnv": [
        {"name": "ETCD_AUTO_COMPACTION_RETENTION", "value": "1"},
        {"name": "NODE", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "spec.nodeName"}}},
    ],
    "resources": {"limits": {"cpu": 2, "memory": "2Gi"}, "requests": {"cpu": "200m", "memory": "512Mi"}},
    "annotations": {"prometheus.io/scrape": "true"},
    "busyboxImage": "registry.example/busybox:1.28.0-glibc",
    "securityContext": {"runAsNonRoot": True, "runAsUser": 9000, "fsGroup": 9000},
    "DNSTimeoutInSecond": 60,
    "ClusterDomain": ".cluster.local",
}

GOOD_CLUSTERS: tuple[Object, ...] = (
    etcd_cluster("unseen"),
    etcd_cluster(
        "creating", status=cluster_status("Creating", conditions=[condition("Scaling", "Scaling up", "0->3")])
    ),
    etcd_cluster(
        "running",
        spec={"pod": POLICY_DEFAULTS},
        status=cluster_status(
            "Running",
            **SERVING,
            size=3,
            conditions=[AVAILABLE],
            members={"ready": ["running-abcdefghij", "running-klmnopqrst"], "unready": ["running-uvwxyz0123"]},
            currentVersion="3.2.13",
        ),
    ),
    etcd_cluster(
        "upgrading",
        spec={"version": "3.3.27", "size": 5},
        status=cluster_status(
            "Running",
            **SERVING,
            size=5,
            conditions=[AVAILABLE, condition("Upgrading", "Cluster upgrading", "upgrading to 3.3.27")],
            members={"ready": [f"upgrading-000{number}" for number in range(5)]},
            currentVersion="3.2.13",
            targetVersion="3.3.27",
        ),
    ),
    etcd_cluster("failed", status=cluster_status("Failed", reason="cluster failed to be created")),
    etcd_cluster(
        "recovering",
        status=cluster_status("Running", conditions=[condition("Recovering", "Disaster recovery"), AVAILABLE]),
    ),
    etcd_cluster("paused", spec={"paused": True}, status=cluster_status("Running", controlPaused=True, size=3)),
    etcd_cluster("restored", spec={"paused": False}, status=cluster_status("Running")),
    etcd_cluster(
        "spread",
        spec={"pod": POLICY_DEFAULTS | {"antiAffinity": True, "affinity": SPREAD}},
        status=cluster_status("Running", **SERVING, size=3),
    ),
    etcd_cluster("secured", spec={"TLS": STATIC_TLS}, status=cluster_status("Running", **SERVING, size=3)),
    etcd_cluster("barely-secured", spec={"TLS": {}, "pod": {}}, status=cluster_status("Running", size=3)),
    etcd_cluster(
        "durable",
        spec={
            "pod": POLICY_DEFAULTS
            | {
                "persistentVolumeClaimSpec": {
                    "storageClassName": "standard",
                    "accessModes": ["ReadWriteOnce"],
                    "resources": {"requests": {"storage": "512Mi"}},
                    "dataSource": None,  # written empty or not by Kubernetes' own types of that time
                }
            }
        },
        status=cluster_status("Running", **SERVING, size=3),
    ),
    etcd_cluster("tuned", spec={"pod": FULL_POLICY}, status=cluster_status("Running", **SERVING, size=3)),
    etcd_cluster(
        "everywhere", annotations={"etcd.database.coreos.com/scope": "clusterwide"}, status=cluster_status("Running")
    ),
    etcd_cluster(
        "ancient",  # fields of before 0.7, and some that never were
        spec={"backup": {"storageType": "S3", "maxBackups": 5}, "selfHosted": {}, "Size": 7},
        status=cluster_status("Running", backupServiceStatus={"backupSize": 1.5}),
    ),
)

# A name of 53 characters, one with a dot, one with a digit in front: the old operator had no words for them.
MISNAMED: tuple[Object, ...] = (
    etcd_cluster("a" * 53),
    etcd_cluster("demo.example", status=cluster_status("Failed", reason="cluster failed to be created")),
    etcd_cluster("3rd", status=cluster_status("Failed", reason="cluster failed to be created")),
)

REFUSED_TODAY: tuple[Object, ...] = (
    etcd_cluster("too-large", spec={"size": 9}, status=cluster_status("Running", size=9)),
    etcd_cluster("sizeless", spec={"size": 0}, status=cluster_status("Creating")),
    etcd_cluster("unreleased", spec={"version": "latest"}, status=cluster_status("Running", size=3)),
    etcd_cluster("half-secured", spec={"TLS": {"static": {"operatorSecret": "etcd-client-tls"}}}),
    etcd_cluster("labelled", spec={"pod": POLICY_DEFAULTS | {"labels": {"app": "mine", "etcd_node": "x"}}}),
    etcd_cluster("dotless", spec={"pod": POLICY_DEFAULTS | {"ClusterDomain": "cluster.local"}}),
    *MISNAMED,
    etcd_backup("nowhere", spec={"storageType": "S3"}),
    etcd_backup("twofold", spec={"storageType": "S3", "s3": S3, "gcs": {"path": "b/k"}}),
    etcd_backup("floppy", spec={"storageType": "Floppy", "s3": S3}),
    etcd_backup("keyless", spec={"storageType": "S3", "s3": {"path": "bucket", "awsSecret": "aws"}}),
    etcd_backup("backwards", spec={"storageType": "S3", "s3": S3, "backupPolicy": {"backupIntervalInSecond": -1}}),
    etcd_backup("pointless", spec={"storageType": "S3", "s3": S3, "etcdEndpoints": []}),
    etcd_restore("unsourced", spec={"s3": None}, status={"succeeded": True}),
    etcd_restore("misplaced", spec={"etcdCluster": {"name": "another"}}, status={"succeeded": True}),
)

GOOD_BACKUPS: tuple[Object, ...] = (
    etcd_backup("untried", spec={"storageType": "S3", "s3": S3}),
    etcd_backup(
        "taken",
        spec={"storageType": "S3", "s3": S3, "clientTLSSecret": "etcd-client-tls"},
        status={
            "succeeded": True,
            "etcdVersion": "3.2.13",
            "etcdRevision": 8812,
            "lastSuccessDate": "2019-03-04T11:22:33Z",
        },
    ),
    etcd_backup(
        "missed",
        spec={"storageType": "ABS", "abs": {"path": "container/etcd.backup", "absSecret": "abs"}},
        status={
            "succeeded": False,
            "Reason": "failed to save snapshot (create etcd client failed)",
            "lastSuccessDate": None,
        },
    ),
    etcd_backup(
        "periodic",
        spec={
            "storageType": "GCS",
            "gcs": {"path": "bucket/etcd.backup", "gcpSecret": "gcp"},
            "backupPolicy": {"timeoutInSecond": 120, "backupIntervalInSecond": 125, "maxBackups": 4},
        },
        status={
            "succeeded": True,
            "etcdVersion": "3.3.27",
            "etcdRevision": 41,
            "lastSuccessDate": "2020-01-01T00:00:00Z",
        },
        finalizers=(BACKUP_FINALIZER,),
    ),
    etcd_backup(
        "overseas",
        spec={"storageType": "OSS", "oss": {"path": "bucket/etcd.backup", "ossSecret": "oss", "endpoint": ""}},
        status={"succeeded": False, "lastSuccessDate": None},
    ),
)

GOOD_RESTORES: tuple[Object, ...] = (
    etcd_restore("running"),
    etcd_restore("restored", status={"succeeded": True}),
    etcd_restore("failed", status={"succeeded": False, "reason": "failed to prepare seed: no such backup"}),
)

GOOD: tuple[Object, ...] = (*GOOD_CLUSTERS, *GOOD_BACKUPS, *GOOD_RESTORES)
ALL: tuple[Object, ...] = (*GOOD, *REFUSED_TODAY)
