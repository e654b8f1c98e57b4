"""Which images a member's pod runs."""

from __future__ import annotations

from dataclasses import dataclass

from etcd_operator.api.cluster import EtcdCluster
from etcd_operator.cluster.launch import plain


@dataclass(frozen=True)
class Images:
    """What the operator was started with."""

    operator: str  # its own, from which the guard runs
    etcd_repository: str  # for clusters that name none


def etcd_image(cluster: EtcdCluster, *, version: str, images: Images) -> str:
    """Tags of etcd's images have one v, however the version was written."""
    return f"{cluster.spec.repository or images.etcd_repository}:v{plain(version)}"
