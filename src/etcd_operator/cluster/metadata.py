"""What every object of a cluster carries: its labels, and the owner that it goes down with."""

from __future__ import annotations

from collections.abc import Mapping

from etcd_operator.api.cluster import EtcdCluster
from etcd_operator.api.names import API_VERSION, GROUP
from etcd_operator.api.pod_policy import PodPolicy
from etcd_operator.cluster.launch import Launch, identity_annotation
from etcd_operator.cluster.names import IDENTITY, POD_POLICY, VERSION, member_labels
from etcd_operator.cluster.policy import fingerprint
from etcd_operator.kube.objects import Manifest


def metadata(cluster: EtcdCluster, *, name: str, labels: Mapping[str, str]) -> Manifest:
    return {"name": name, "namespace": cluster.metadata.namespace, "labels": dict(labels)}


def owned(cluster: EtcdCluster, *, name: str, labels: Mapping[str, str]) -> Manifest:
    owner = {
        "apiVersion": API_VERSION,
        "kind": "EtcdCluster",
        "name": cluster.metadata.name,
        "uid": cluster.metadata.uid,
        "controller": True,
    }
    return {**metadata(cluster, name=name, labels=labels), "ownerReferences": [owner]}


def pod_labels(cluster: EtcdCluster, member: str) -> dict[str, str]:
    theirs = (cluster.spec.pod or PodPolicy()).labels or {}
    return {**theirs, **member_labels(cluster, member)}


def pod_annotations(cluster: EtcdCluster, launch: Launch) -> dict[str, str]:
    """What is ours is never taken from the user, not even before we have a value: the guard believes it."""
    theirs = (cluster.spec.pod or PodPolicy()).annotations or {}
    identity = {IDENTITY: identity_annotation(launch.identity)} if launch.identity else {}
    return {
        **{name: value for name, value in theirs.items() if name != VERSION and not name.startswith(f"{GROUP}/")},
        VERSION: launch.version,
        POD_POLICY: fingerprint(cluster.spec),
        **identity,
    }
