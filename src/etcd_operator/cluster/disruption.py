"""How many members a drain of nodes must leave in place.

Never fewer than a quorum: of the voters there are, and of the size that is wanted, so that a cluster that is growing is
not drained down to what it was. A single member cannot be spared at all, and yet a node must be drained some day: on a
claim it may go, for it comes back with its data; without one its data would be gone.
"""

from __future__ import annotations

from etcd_operator.api.cluster import EtcdCluster
from etcd_operator.api.cluster_names import selector
from etcd_operator.cluster.metadata import owned
from etcd_operator.kube.objects import Manifest


def disruption_budget(cluster: EtcdCluster, *, voters: int, on_claims: bool) -> Manifest:
    members = max(voters, cluster.spec.size)
    needed = 0 if members == 1 and on_claims else members // 2 + 1
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": owned(cluster, name=cluster.metadata.name, labels=selector(cluster)),
        "spec": {
            "minAvailable": needed,
            "selector": {"matchLabels": selector(cluster)},
            # The other choice would let members go that are not ready, even when no quorum is: their disks with them.
            "unhealthyPodEvictionPolicy": "IfHealthyBudget",
        },
    }
