"""Flags of the old programs that do nothing any more; manifests in use may still carry them.

The first two were there to the end; the others had been removed from the old operator before, which then refused to
start with them. Passing over a flag in silence would leave its user in a false belief, so each has a sentence.
"""

from __future__ import annotations

from etcd_operator.cli.go_flags import RetiredFlag

_BACKUPS = "backups are taken by etcd-backup-operator, and an EtcdBackup object names the bucket and the secret"
_VOLUMES = "volumes are asked for in an EtcdCluster's spec.pod.persistentVolumeClaimSpec, which names a storage class"
_SERVER = "the API server is that of the cluster it runs in, or the one that --kubeconfig names"

OPERATOR: tuple[RetiredFlag, ...] = (
    RetiredFlag("gc-interval", "what belongs to a deleted cluster is removed by Kubernetes itself, at once"),
    RetiredFlag("chaos-level", "this operator breaks no clusters, and nothing is broken on purpose"),
    RetiredFlag("analytics", "nothing is sent to anybody", boolean=True),
    RetiredFlag("pv-provisioner", _VOLUMES),
    RetiredFlag("create-storage-class", _VOLUMES, boolean=True),
    RetiredFlag("debug-logfile-path", "everything that is done is logged to standard error"),
    RetiredFlag("backup-aws-secret", _BACKUPS),
    RetiredFlag("backup-aws-config", _BACKUPS),
    RetiredFlag("backup-s3-bucket", _BACKUPS),
    RetiredFlag("master", _SERVER),
    RetiredFlag("cert-file", _SERVER),
    RetiredFlag("key-file", _SERVER),
    RetiredFlag("ca-file", _SERVER),
    RetiredFlag("tls-insecure", _SERVER, boolean=True),
)
