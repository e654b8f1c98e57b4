"""Members in etcd's list, by the names they have with us.

A member that has not started yet has no name in the list, and one that somebody added by hand may have any; so the name
is read from the peer URL, as long as that is a host of the cluster's own.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from etcd_operator.api.cluster import EtcdCluster
from etcd_operator.api.cluster_names import member_at, peer_service_name
from etcd_operator.etcd.results import MemberRecord
from etcd_operator.plan.view import Listed


def listed(cluster: EtcdCluster, record: MemberRecord) -> Listed:
    own = next((url for url in sorted(record.peer_urls) if is_ours(cluster, url)), None)
    name = member_at(own) if own else None
    return Listed(
        id=record.id,
        name=name or record.name or f"{record.id:x}",
        peer_urls=frozenset(record.peer_urls),
        learner=record.is_learner,
        started=record.started,
        ours=name is not None,
    )


def is_ours(cluster: EtcdCluster, url: str) -> bool:
    """Whether the host is one of the cluster's service: `<member>.<cluster>.<namespace>.svc`, with any domain."""
    name = member_at(url)
    if not name:
        return False
    _, _, domain = (urlsplit(url).hostname or "").partition(".")
    ours = f"{peer_service_name(cluster)}.{cluster.metadata.namespace}.svc"
    return domain == ours or domain.startswith(f"{ours}.")
