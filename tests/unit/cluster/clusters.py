"""Clusters as users write them, and members of them, for builders to work on."""

from __future__ import annotations

from typing import Any

from etcd_operator.api.cluster import EtcdCluster
from etcd_operator.api.reading import decode, stored
from etcd_operator.cluster.images import Images
from etcd_operator.cluster.launch import Launch, joiner, returning, seed
from etcd_operator.cluster.pod import member_pod
from etcd_operator.member.settings import Identity

UID = "5f0c4a52-1c1a-4c57-9a5e-0d5b7a1f7a11"
FIRST, SECOND, THIRD = "demo-x7k2b9tqzw", "demo-p9qdh4mrlc", "demo-b6vg8nsjf5"
IMAGES = Images(operator="etcd-operator:dev", etcd_repository="example.test/etcd")
IDENTITY = Identity(cluster_id="cdf818194e3a8c32", member_id="8e9e05c52164694d")

CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "8Gi"}}, "storageClassName": "fast"}
PEER_TLS = {"static": {"member": {"peerSecret": "etcd-peer-tls"}}}
CLIENT_TLS = {"static": {"member": {"serverSecret": "etcd-server-tls"}, "operatorSecret": "etcd-client-tls"}}
BOTH_TLS = {
    "static": {
        "member": {"peerSecret": "etcd-peer-tls", "serverSecret": "etcd-server-tls"},
        "operatorSecret": "etcd-client-tls",
    }
}


def a_cluster(*, pod: Any = None, **spec: Any) -> EtcdCluster:
    metadata = {"name": "demo", "namespace": "prod", "uid": UID, "generation": 4}
    wanted = {"size": 3, **spec, **({"pod": pod} if pod is not None else {})}
    found = decode(EtcdCluster, stored({"metadata": metadata, "spec": wanted}))
    assert isinstance(found, EtcdCluster), found
    return found


def a_seed(cluster: EtcdCluster, version: str = "3.6.16") -> Launch:
    return seed(cluster, member=FIRST, version=version, attempt=1)


def a_joiner(cluster: EtcdCluster, version: str = "3.6.16") -> Launch:
    others = {**urls(cluster, FIRST), **urls(cluster, SECOND)}
    return joiner(cluster, member=THIRD, version=version, others=others)


def a_returning(cluster: EtcdCluster, version: str = "3.6.16") -> Launch:
    members = {**urls(cluster, FIRST), **urls(cluster, SECOND), **urls(cluster, THIRD)}
    return returning(member=SECOND, version=version, identity=IDENTITY, members=members)


def urls(cluster: EtcdCluster, member: str) -> dict[str, frozenset[str]]:
    scheme = "https" if cluster.spec.tls and cluster.spec.tls.peer else "http"
    return {member: frozenset({f"{scheme}://{member}.demo.prod.svc:2380"})}


def pod_of(cluster: EtcdCluster, launch: Launch | None = None) -> Any:
    return member_pod(cluster, launch or a_seed(cluster), images=IMAGES)


def container(pod: Any, name: str = "etcd") -> Any:
    return next(each for each in pod["spec"]["initContainers"] + pod["spec"]["containers"] if each["name"] == name)
