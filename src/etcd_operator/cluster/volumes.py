"""Where a member keeps its data and finds its certificates: paths that users' commands and scripts know.

Secrets are mounted whole and never by sub-path: only so do renewed certificates reach a running member. Their files
keep the mode that everybody may read, as the container is the boundary and the user in it is not always ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from etcd_operator.api.cluster import EtcdCluster
from etcd_operator.api.cluster_names import tls
from etcd_operator.cluster.launch import Launch
from etcd_operator.kube.objects import Manifest

DATA_MOUNT = "/var/etcd"
DATA_DIR = f"{DATA_MOUNT}/data"
MARKER = f"{DATA_MOUNT}/member.json"


@dataclass(frozen=True)
class Certificates:
    """A secret's volume, where it is mounted, and the keys in it."""

    volume: str
    path: str
    ca: str
    certificate: str
    key: str

    def mount(self) -> Manifest:
        return {"name": self.volume, "mountPath": self.path, "readOnly": True}

    def of(self, secret: str) -> Manifest:
        return {"name": self.volume, "secret": {"secretName": secret}}


def _certificates(volume: str, path: str, stem: str) -> Certificates:
    return Certificates(volume, path, f"{path}/{stem}-ca.crt", f"{path}/{stem}.crt", f"{path}/{stem}.key")


PEER = _certificates("member-peer-tls", "/etc/etcdtls/member/peer-tls", "peer")
SERVER = _certificates("member-server-tls", "/etc/etcdtls/member/server-tls", "server")
CLIENT = _certificates("etcd-client-tls", "/etc/etcdtls/operator/etcd-tls", "etcd-client")

DATA = {"name": "etcd-data", "mountPath": DATA_MOUNT}


def volumes(cluster: EtcdCluster, launch: Launch) -> list[Manifest]:
    data: dict[str, Any] = (
        {"persistentVolumeClaim": {"claimName": launch.member}} if launch.on_claim else {"emptyDir": {}}
    )
    return [*_secrets(cluster), {"name": DATA["name"], **data}]


def etcd_mounts(cluster: EtcdCluster) -> list[Manifest]:
    """The operator's certificates are for people: with them `etcdctl` works inside the container."""
    peer = [PEER.mount()] if tls(cluster).peer else []
    client = [SERVER.mount(), CLIENT.mount()] if tls(cluster).client else []
    return [dict(DATA), *peer, *client]


def guard_mounts(cluster: EtcdCluster) -> list[Manifest]:
    return [dict(DATA), *([PEER.mount()] if tls(cluster).peer else [])]


def _secrets(cluster: EtcdCluster) -> list[Manifest]:
    static = tls(cluster).static
    member = static.member if static else None
    peer = [PEER.of(member.peer_secret)] if member and tls(cluster).peer else []
    server = [SERVER.of(member.server_secret)] if member and tls(cluster).client else []
    operator = [CLIENT.of(static.operator_secret)] if static and tls(cluster).client else []
    return [*peer, *server, *operator]
