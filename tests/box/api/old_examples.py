"""What the old operator's examples and documentation gave people to write, and so what stands in their files.

Field by field as facts, in words and values of our own. Placeholders are filled in as those documents told to.
"""

from __future__ import annotations

from typing import Any

Object = dict[str, Any]

API_VERSION = "etcd.database.coreos.com/v1beta2"
SCOPE = {"etcd.database.coreos.com/scope": "clusterwide"}
ENDPOINTS = ["http://example-etcd-cluster-client:2379"]


def written(kind: str, name: str, spec: Object, annotations: Object | None = None) -> Object:
    metadata: Object = {"name": name} | ({"annotations": annotations} if annotations else {})
    return {"apiVersion": API_VERSION, "kind": kind, "metadata": metadata, "spec": spec}


def cluster_with(name: str, pod: Object) -> Object:
    return written("EtcdCluster", name, {"size": 3, "version": "3.2.13", "pod": pod})


def term(cluster: str) -> Object:
    values = {"key": "etcd_cluster", "operator": "In", "values": [cluster]}
    return {"labelSelector": {"matchExpressions": [values]}, "topologyKey": "kubernetes.io/hostname"}


S3: Object = {"path": "mybucket/etcd.backup", "awsSecret": "aws"}
SECRETS: Object = {
    "member": {"peerSecret": "etcd-peer-tls", "serverSecret": "etcd-server-tls"},
    "operatorSecret": "etcd-client-tls",
}

EXAMPLES: tuple[Object, ...] = (
    written("EtcdCluster", "example-etcd-cluster", {"size": 3, "version": "3.2.13"}),
    written("EtcdCluster", "example-etcd-cluster-wide", {"size": 3, "version": "3.2.13"}, SCOPE),
    written("EtcdCluster", "example", {"size": 3, "TLS": {"static": SECRETS}}),
    written("EtcdBackup", "example-etcd-cluster-backup", {"etcdEndpoints": ENDPOINTS, "storageType": "S3", "s3": S3}),
    written(
        "EtcdBackup",
        "example-etcd-cluster-periodic-backup",
        {
            "etcdEndpoints": ENDPOINTS,
            "storageType": "S3",
            "backupPolicy": {"backupIntervalInSecond": 125, "maxBackups": 4},
            "s3": S3,
        },
    ),
    written(
        "EtcdRestore",
        "example-etcd-cluster",
        {"etcdCluster": {"name": "example-etcd-cluster"}, "backupStorageType": "S3", "s3": S3},
    ),
)

DOCUMENTED: tuple[Object, ...] = (
    written("EtcdCluster", "size-only", {"size": 3}),
    written("EtcdCluster", "own-image", {"size": 5, "repository": "registry.example/etcd", "version": "v3.3.27"}),
    written("EtcdCluster", "paused", {"size": 3, "paused": True}),
    written("EtcdCluster", "peer-tls-only", {"size": 3, "TLS": {"static": {"member": {"peerSecret": "peer"}}}}),
    cluster_with("node-selector", {"nodeSelector": {"diskType": "ssd"}}),
    cluster_with(
        "strictly-apart",
        {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term("strictly-apart")]}}},
    ),
    cluster_with(
        "rather-apart",
        {
            "affinity": {
                "podAntiAffinity": {
                    "preferredDuringSchedulingIgnoredDuringExecution": [
                        {"weight": 100, "podAffinityTerm": term("rather-apart")}
                    ]
                }
            }
        },
    ),
    cluster_with("apart-as-of-old", {"antiAffinity": True}),
    cluster_with(
        "resources",
        {
            "resources": {
                "limits": {"cpu": "300m", "memory": "200Mi"},
                "requests": {"cpu": "200m", "memory": "100Mi"},
            }
        },
    ),
    cluster_with("environment", {"etcdEnv": [{"name": "ETCD_AUTO_COMPACTION_RETENTION", "value": "1"}]}),
    cluster_with("annotated", {"annotations": {"prometheus.io/scrape": "true", "prometheus.io/port": "2379"}}),
    cluster_with("labelled", {"labels": {"team": "storage"}}),
    cluster_with("tolerant", {"tolerations": [{"key": "etcd", "operator": "Exists", "effect": "NoSchedule"}]}),
    cluster_with("unprivileged", {"securityContext": {"runAsNonRoot": True, "runAsUser": 9000, "fsGroup": 9000}}),
    cluster_with("own-domain", {"ClusterDomain": ".cluster.local", "DNSTimeoutInSecond": 30}),
    cluster_with("own-busybox", {"busyboxImage": "registry.example/busybox:1.28.0-glibc"}),
    cluster_with(
        "claimed",
        {
            "persistentVolumeClaimSpec": {
                "storageClassName": "standard",
                "accessModes": ["ReadWriteOnce"],
                "resources": {"requests": {"storage": "1Gi"}},
            }
        },
    ),
    written(
        "EtcdBackup",
        "to-other-s3",
        {
            "etcdEndpoints": ["https://example-client:2379"],
            "storageType": "S3",
            "s3": S3 | {"endpoint": "http://minio.storage:9000", "forcePathStyle": True},
            "clientTLSSecret": "etcd-client-tls",
            "backupPolicy": {"timeoutInSecond": 300},
        },
    ),
    written(
        "EtcdBackup",
        "to-azure",
        {"etcdEndpoints": ENDPOINTS, "storageType": "ABS", "abs": {"path": "container/key", "absSecret": "abs"}},
    ),
    written(
        "EtcdBackup",
        "to-google",
        {"etcdEndpoints": ENDPOINTS, "storageType": "GCS", "gcs": {"path": "bucket/key", "gcpSecret": "gcp"}},
    ),
    written(
        "EtcdBackup",
        "to-google-by-default-credentials",
        {"etcdEndpoints": ENDPOINTS, "storageType": "GCS", "gcs": {"path": "bucket/deep/key"}},
    ),
    written(
        "EtcdBackup",
        "to-alibaba",
        {
            "etcdEndpoints": ENDPOINTS,
            "storageType": "OSS",
            "oss": {"path": "bucket/key", "ossSecret": "oss", "endpoint": "http://oss.example"},
        },
    ),
    *(
        written(
            "EtcdRestore",
            f"from-{block}",
            {
                "etcdCluster": {"name": f"from-{block}"},
                "backupStorageType": block.upper(),
                block: {"path": "bucket/etcd.backup", secret: "credentials"},
            },
        )
        for block, secret in (("abs", "absSecret"), ("gcs", "gcpSecret"), ("oss", "ossSecret"))
    ),
)
