"""How a member is reached: by its pod's address, as the host that its certificate names, and as nobody else.

Where it is known who the member is, or at least which cluster it belongs to, an answer of another is refused:
addresses of pods are used again.
"""

from __future__ import annotations

from typing import Protocol

from etcd_operator.api.cluster import EtcdCluster
from etcd_operator.api.cluster_names import BORN, CLIENT_PORT, host, tls
from etcd_operator.cluster.access import Access
from etcd_operator.etcd.line import Target
from etcd_operator.etcd.member import Member
from etcd_operator.etcd.pool import Pool
from etcd_operator.plan.view import Body, Identity


def at(address: str, port: int) -> str:
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


def cluster_id_of(cluster: EtcdCluster) -> int | None:
    """As it was written down, if it was."""
    written = cluster.status.cluster_id or cluster.metadata.annotations.get(BORN, "")
    try:
        return int(written, 16)
    except ValueError:
        return None


class Dialler(Protocol):
    """Gives a member to call by its pod.

    The identity is the pod's own unless another is given; `anyone` is for calls that do no harm anywhere.
    """

    def __call__(self, body: Body, *, identity: Identity | None = None, anyone: bool = False) -> Member: ...


class Dial:
    """The members of one cluster."""

    def __init__(self, pool: Pool, cluster: EtcdCluster, access: Access) -> None:
        self._pool = pool
        self._cluster = cluster
        self._access = access

    def __call__(self, body: Body, *, identity: Identity | None = None, anyone: bool = False) -> Member:
        known = identity or body.identity
        cluster_id = known.cluster_id if known else cluster_id_of(self._cluster)
        target = Target(
            at(body.address, CLIENT_PORT),
            authority=host(self._cluster, body.name) if tls(self._cluster).client else None,
            member_id=known.member_id if known and not anyone else None,
            cluster_id=None if anyone else cluster_id,
        )
        return self._pool.member(target, tls=self._access.tls, login=self._access.login)
