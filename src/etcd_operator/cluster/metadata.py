"""What every object of a cluster carries: its labels, and the owner that it goes down with."""

from __future__ import annotations

from collections.abc import Mapping

from etcd_operator.api.cluster import EtcdCluster
from etcd_operator.api.cluster_names import IDENTITY, JOINS, POD_POLICY, VERSION, member_labels
from etcd_operator.api.names import API_VERSION
from etcd_operator.cluster import attire
from etcd_operator.cluster.identity import written
from etcd_operator.cluster.launch import Launch
from etcd_operator.cluster.policy import fingerprint
from etcd_operator.kube.objects import Manifest


def metadata(cluster: EtcdCluster, *, name: str, labels: Mapping[str, str]) -> Manifest:
    return {"name": name, "namespace": cluster.metadata.namespace, "labels": dict(labels)}


def owned(cluster: EtcdCluster, *, name: str, labels: Mapping[str, str]) -> Manifest:
    return {**metadata(cluster, name=name, labels=labels), "ownerReferences": [owner(cluster)]}


def owner(cluster: EtcdCluster) -> Manifest:
    return {
        "apiVersion": API_VERSION,
        "kind": "EtcdCluster",
        "name": cluster.metadata.name,
        "uid": cluster.metadata.uid,
        "controller": True,
    }


def pod_labels(cluster: EtcdCluster, member: str) -> dict[str, str]:
    return {**attire.their_labels(cluster, member), **member_labels(cluster, member)}


def pod_annotations(cluster: EtcdCluster, launch: Launch) -> dict[str, str]:
    identity = {IDENTITY: written(launch.identity)} if launch.identity else {}
    return {
        **attire.their_annotations(cluster),
        **attire.note(cluster, launch.member),
        VERSION: launch.version,
        POD_POLICY: fingerprint(cluster.spec),
        JOINS: ",".join(sorted(launch.initial_cluster)),
        **identity,
    }
