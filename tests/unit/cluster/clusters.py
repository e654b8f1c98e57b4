"""Clusters as users write them, and members of them, for builders to work on."""

from __future__ import annotations

from typing import Any

from etcd_operator.api.cluster import EtcdCluster
from etcd_operator.api.cluster_names import host, peer_url
from etcd_operator.api.reading import decode, stored
from etcd_operator.cluster.images import Images
from etcd_operator.cluster.launch import Launch, launch_of, wants_claim
from etcd_operator.cluster.pod import member_pod
from etcd_operator.plan.steps import Start, Urls
from etcd_operator.plan.view import Identity
from etcd_operator.releases.version import Version

UID = "5f0c4a52-1c1a-4c57-9a5e-0d5b7a1f7a11"
FIRST, SECOND, THIRD = "demo-x7k2b9tqzw", "demo-p9qdh4mrlc", "demo-b6vg8nsjf5"
IMAGES = Images(operator="etcd-operator:dev", etcd_repository="example.test/etcd")
IDENTITY = Identity(cluster_id=0xCDF818194E3A8C32, member_id=0x8E9E05C52164694D)

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
    return a_start(cluster, FIRST, version=version, peers=urls(cluster, FIRST), seed=True, attempt=1)


def a_joiner(cluster: EtcdCluster, version: str = "3.6.16") -> Launch:
    return a_start(cluster, THIRD, version=version, peers=all_urls(cluster))


def a_returning(cluster: EtcdCluster, version: str = "3.6.16") -> Launch:
    return a_start(cluster, SECOND, version=version, peers=all_urls(cluster), identity=IDENTITY, on_claim=True)


def a_start(cluster: EtcdCluster, member: str, *, version: str, peers: Urls, **how: Any) -> Launch:
    how = {"on_claim": wants_claim(cluster), **how}
    return launch_of(cluster, Start(member=member, version=Version.parse(version), peers=peers, **how))


def all_urls(cluster: EtcdCluster) -> dict[str, frozenset[str]]:
    return {**urls(cluster, FIRST), **urls(cluster, SECOND), **urls(cluster, THIRD)}


def urls(cluster: EtcdCluster, member: str) -> dict[str, frozenset[str]]:
    return {member: frozenset({peer_url(cluster, host(cluster, member))})}


def pod_of(cluster: EtcdCluster, launch: Launch | None = None) -> Any:
    return member_pod(cluster, launch or a_seed(cluster), images=IMAGES)


def container(pod: Any, name: str = "etcd") -> Any:
    return next(each for each in pod["spec"]["initContainers"] + pod["spec"]["containers"] if each["name"] == name)
