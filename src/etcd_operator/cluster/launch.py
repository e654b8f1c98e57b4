"""How one member is started: as the seed of a new cluster, as a joiner, or again on the disk it has.

Only the seed of a cluster that has never lived starts with `new`. A member that comes back is told who it was: without
that its guard would take an emptied disk for that of a joiner, and what others rely on it for having voted would be
forgotten. It keeps the peer URLs that etcd knows it by, whatever the spec says of new members' domain by now.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from etcd_operator.api.cluster import EtcdCluster
from etcd_operator.member.settings import InitialCluster, State
from etcd_operator.plan.steps import Start
from etcd_operator.plan.view import Identity


@dataclass(frozen=True, kw_only=True)
class Launch:
    member: str
    version: str  # without a v
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


def launch_of(cluster: EtcdCluster, start: Start) -> Launch:
    """The token makes a seed's IDs unlike those of every other try and every other cluster."""
    return Launch(
        member=start.member,
        version=str(start.version),
        state=State.NEW if start.seed else State.EXISTING,
        initial_cluster=start.peers,
        on_claim=start.on_claim,
        token=f"{cluster.metadata.uid}-{start.attempt}" if start.seed else "",
        identity=start.identity,
    )


def wants_claim(cluster: EtcdCluster) -> bool:
    return cluster.spec.pod is not None and cluster.spec.pod.persistent_volume_claim_spec is not None


def plain(version: str) -> str:
    """However many v were written in front of it."""
    return version.lstrip("v")
