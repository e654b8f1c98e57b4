"""How one member is started: as the seed of a new cluster, as a joiner, or again on the claim it has.

Only the seed of a cluster that has never lived starts with `new`. A member that comes back is told who it was: without
that its guard would take an emptied disk for that of a joiner, and what others rely on it for having voted would be
forgotten. It keeps the peer URLs that etcd knows it by, whatever the spec says of new members' domain by now.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from urllib.parse import urlsplit

from etcd_operator.api.cluster import EtcdCluster
from etcd_operator.cluster.names import host, peer_url
from etcd_operator.member.settings import Identity, InitialCluster, State


@dataclass(frozen=True, kw_only=True)
class Launch:
    member: str
    version: str  # as the user writes it, without a v
    state: State
    initial_cluster: InitialCluster  # all members by their peer URLs, this one included
    on_claim: bool
    token: str = ""  # of a seed only
    identity: Identity | None = None  # None: never answered yet

    @property
    def peer_urls(self) -> str:
        return ",".join(sorted(self.initial_cluster[self.member]))

    @property
    def host(self) -> str:
        """The name under which others know the member."""
        first, *_ = sorted(self.initial_cluster[self.member])
        return urlsplit(first).hostname or ""

    @property
    def initial_cluster_flag(self) -> str:
        """As etcd wants it: a member with several URLs is named once for each."""
        members = sorted(self.initial_cluster.items())
        return ",".join(f"{name}={url}" for name, urls in members for url in sorted(urls))


def seed(cluster: EtcdCluster, *, member: str, version: str, attempt: int) -> Launch:
    """The first member. The token makes its IDs unlike those of every other try and every other cluster."""
    return Launch(
        member=member,
        version=plain(version),
        state=State.NEW,
        initial_cluster={member: _urls(cluster, member)},
        on_claim=wants_claim(cluster),
        token=f"{cluster.metadata.uid}-{attempt}",
    )


def joiner(cluster: EtcdCluster, *, member: str, version: str, others: InitialCluster) -> Launch:
    """A member more, beside those that etcd lists by now."""
    return Launch(
        member=member,
        version=plain(version),
        state=State.EXISTING,
        initial_cluster={**others, member: _urls(cluster, member)},
        on_claim=wants_claim(cluster),
    )


def returning(*, member: str, version: str, identity: Identity, members: InitialCluster) -> Launch:
    """A member whose pod is gone and whose claim is there; `members` is etcd's list, with it."""
    return Launch(
        member=member,
        version=plain(version),
        state=State.EXISTING,
        initial_cluster=members,
        on_claim=True,
        identity=identity,
    )


def wants_claim(cluster: EtcdCluster) -> bool:
    return cluster.spec.pod is not None and cluster.spec.pod.persistent_volume_claim_spec is not None


def plain(version: str) -> str:
    """However many v were written in front of it."""
    return version.lstrip("v")


def identity_annotation(identity: Identity) -> str:
    """As the guard reads it."""
    return json.dumps({"clusterID": identity.cluster_id, "memberID": identity.member_id})


def _urls(cluster: EtcdCluster, member: str) -> frozenset[str]:
    return frozenset({peer_url(cluster, host(cluster, member))})
