"""The names and addresses of what a cluster consists of: users' certificates, scripts and dashboards know them.

A member, its pod and its claim share one name, and no name is used twice. A member of etcd that has not started yet has
no name in etcd's list, so there a name is read from where it will always be: the first label of its peer URL's host.
"""

from __future__ import annotations

import re

from etcd_operator.api.cluster import EtcdCluster
from etcd_operator.api.names import GROUP
from etcd_operator.api.tls import TlsPolicy

CLIENT_PORT = 2379
PEER_PORT = 2380

# On pods.
VERSION = "etcd.version"  # annotation: what the pod's image is, without a v
IDENTITY = f"{GROUP}/identity"  # annotation: who etcd says the member is, since its first answer
JOINS = f"{GROUP}/joins"  # annotation: the members in its --initial-cluster, with commas between them
POD_POLICY = f"{GROUP}/pod-policy"  # annotation: fingerprint of what the user asked of the pod
SERVING = f"{GROUP}/serving"  # readiness gate: clients may be sent to the member

# On the EtcdCluster, annotation: the ID that etcd gave the cluster. Where it stands, no first member is started again.
BORN = f"{GROUP}/cluster-id"

# Label on what may outlive a cluster: tells it from what belongs to another of the same name.
CLUSTER_UID = f"{GROUP}/cluster-uid"

# Ends of members' names: no vowels, so no words, and nothing that looks like something else.
SUFFIX_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
SUFFIX_LENGTH = 10

_URL = re.compile(r"https?://(?P<name>[A-Za-z0-9_-]+)(?:\.[A-Za-z0-9._-]*)?(?::[0-9]+)?(?:/.*)?", re.IGNORECASE)


def selector(cluster: EtcdCluster) -> dict[str, str]:
    """What all members' pods have in common, and no other pod of the namespace."""
    return {"app": "etcd", "etcd_cluster": cluster.metadata.name}


def member_labels(cluster: EtcdCluster, member: str) -> dict[str, str]:
    return {**selector(cluster), "etcd_node": member}


def member_name(cluster: EtcdCluster, suffix: str) -> str:
    return f"{cluster.metadata.name}-{suffix}"


def client_service_name(cluster: EtcdCluster) -> str:
    return f"{cluster.metadata.name}-client"


def peer_service_name(cluster: EtcdCluster) -> str:
    return cluster.metadata.name


def host(cluster: EtcdCluster, member: str) -> str:
    domain = cluster.spec.pod.cluster_domain if cluster.spec.pod else ""
    return f"{member}.{peer_service_name(cluster)}.{cluster.metadata.namespace}.svc{domain}"


def tls(cluster: EtcdCluster) -> TlsPolicy:
    return cluster.spec.tls or TlsPolicy()


def client_scheme(cluster: EtcdCluster) -> str:
    return "https" if tls(cluster).client else "http"


def peer_scheme(cluster: EtcdCluster) -> str:
    return "https" if tls(cluster).peer else "http"


def client_url(cluster: EtcdCluster, at: str) -> str:
    return f"{client_scheme(cluster)}://{at}:{CLIENT_PORT}"


def peer_url(cluster: EtcdCluster, at: str) -> str:
    return f"{peer_scheme(cluster)}://{at}:{PEER_PORT}"


def member_at(url: str) -> str | None:
    """Whose peer URL this is; None if no member of ours can have it."""
    found = _URL.fullmatch(url)
    return found["name"].lower() if found else None
