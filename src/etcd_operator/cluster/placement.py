"""Where members run, and how long they stay on a node that is silent.

Members keep apart where there are enough nodes; where there are not, a cluster with two members on one node is better
than one without them. From a node that is not ready or cannot be reached no member is evicted by Kubernetes, however
long it takes: an eviction would delete data that is there again when the node is. Whether a member is given up is the
operator's to decide.
"""

from __future__ import annotations

from typing import Any

from etcd_operator.api.cluster import EtcdCluster
from etcd_operator.api.pod_policy import PodPolicy
from etcd_operator.kube.objects import Manifest

HOST = "kubernetes.io/hostname"
SILENT_NODES: tuple[Manifest, ...] = tuple(
    {"key": f"node.kubernetes.io/{state}", "operator": "Exists", "effect": "NoExecute"}
    for state in ("not-ready", "unreachable")
)


def placement(cluster: EtcdCluster) -> Manifest:
    policy = cluster.spec.pod or PodPolicy()
    wanted: dict[str, Any] = {
        "nodeSelector": dict(policy.node_selector or {}),
        "affinity": affinity(cluster),
        "tolerations": tolerations(policy),
        "topologySpreadConstraints": list(policy.topology_spread_constraints or ()),
        "priorityClassName": policy.priority_class_name,
    }
    return {name: value for name, value in wanted.items() if value}


def affinity(cluster: EtcdCluster) -> Manifest:
    policy = cluster.spec.pod or PodPolicy()
    if policy.affinity is not None:
        return dict(policy.affinity)
    other_members = {
        "labelSelector": {"matchLabels": {"etcd_cluster": cluster.metadata.name}},
        "topologyKey": HOST,
    }
    if policy.anti_affinity:
        return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [other_members]}}
    preferred = {"weight": 100, "podAffinityTerm": other_members}
    return {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [preferred]}}


def tolerations(policy: PodPolicy) -> list[Manifest]:
    """Where a user puts a time limit on one of ours, the limit holds: Kubernetes takes the shortest that it finds."""
    theirs = [dict(entry) for entry in policy.tolerations or ()]
    return [dict(entry) for entry in SILENT_NODES if entry not in theirs] + theirs
