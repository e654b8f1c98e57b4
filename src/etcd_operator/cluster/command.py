"""etcd's command line: the documented flags in the documented order, and no other.

A flag that a version does not know ends it, and a pod whose image is changed keeps its command. So whatever else etcd
is told, it is told by variables.
"""

from __future__ import annotations

from etcd_operator.api.cluster import EtcdCluster
from etcd_operator.api.cluster_names import CLIENT_PORT, PEER_PORT, client_scheme, client_url, peer_scheme, tls
from etcd_operator.cluster.launch import Launch
from etcd_operator.cluster.volumes import DATA_DIR, PEER, SERVER
from etcd_operator.member.settings import State

BINARY = "/usr/local/bin/etcd"


def etcd_command(cluster: EtcdCluster, launch: Launch) -> list[str]:
    return [
        BINARY,
        f"--data-dir={DATA_DIR}",
        f"--name={launch.member}",
        f"--initial-advertise-peer-urls={launch.peer_urls}",
        f"--listen-peer-urls={peer_scheme(cluster)}://0.0.0.0:{PEER_PORT}",
        f"--listen-client-urls={client_scheme(cluster)}://0.0.0.0:{CLIENT_PORT}",
        f"--advertise-client-urls={client_url(cluster, launch.host)}",
        f"--initial-cluster={launch.initial_cluster_flag}",
        f"--initial-cluster-state={launch.state}",
        *(_peer_tls() if tls(cluster).peer else ()),
        *(_client_tls() if tls(cluster).client else ()),
        *((f"--initial-cluster-token={launch.token}",) if launch.state is State.NEW else ()),
    ]


def _peer_tls() -> tuple[str, ...]:
    return (
        "--peer-client-cert-auth=true",
        f"--peer-trusted-ca-file={PEER.ca}",
        f"--peer-cert-file={PEER.certificate}",
        f"--peer-key-file={PEER.key}",
    )


def _client_tls() -> tuple[str, ...]:
    return (
        "--client-cert-auth=true",
        f"--trusted-ca-file={SERVER.ca}",
        f"--cert-file={SERVER.certificate}",
        f"--key-file={SERVER.key}",
    )
