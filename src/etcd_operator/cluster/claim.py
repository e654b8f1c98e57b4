"""The claim of a member: its disk, which lives as long as the member does and longer than its pods."""

from __future__ import annotations

from etcd_operator.api.cluster import EtcdCluster
from etcd_operator.api.cluster_names import CLUSTER_UID, member_labels
from etcd_operator.api.pod_policy import KubernetesObject
from etcd_operator.cluster.metadata import metadata, owned
from etcd_operator.kube.objects import Manifest


def member_claim(cluster: EtcdCluster, member: str, *, wanted: KubernetesObject) -> Manifest:
    """`wanted` is the user's `persistentVolumeClaimSpec`.

    What is to be kept when the cluster is deleted has no owner; the label tells whose it was all the same.
    """
    described = metadata if cluster.spec.deletion_policy == "Retain" else owned
    labels = {**member_labels(cluster, member), CLUSTER_UID: cluster.metadata.uid}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": described(cluster, name=member, labels=labels),
        "spec": {"accessModes": ["ReadWriteOnce"], **wanted},
    }
