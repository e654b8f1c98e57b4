"""The pod of a member.

It restarts for ever where it is: after a crash or a reboot of its node the disk is still there, and only the operator
knows when a member is to be given up. It has no account in Kubernetes to speak with and no variables of other services,
of which etcd would warn. It is ready when its probe says so and the operator, by the gate, that clients may come.
"""

from __future__ import annotations

from typing import Any

from etcd_operator.api.cluster import EtcdCluster
from etcd_operator.api.cluster_names import SERVING, peer_service_name
from etcd_operator.api.pod_policy import PodPolicy
from etcd_operator.cluster.containers import etcd_container, init_containers
from etcd_operator.cluster.images import Images
from etcd_operator.cluster.launch import Launch
from etcd_operator.cluster.metadata import owned, pod_annotations, pod_labels
from etcd_operator.cluster.placement import placement
from etcd_operator.cluster.security import account, pod_security
from etcd_operator.cluster.volumes import volumes
from etcd_operator.kube.objects import Manifest


def member_pod(cluster: EtcdCluster, launch: Launch, *, images: Images) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            **owned(cluster, name=launch.member, labels=pod_labels(cluster, launch.member)),
            "annotations": pod_annotations(cluster, launch),
        },
        "spec": {
            "hostname": launch.member,
            "subdomain": peer_service_name(cluster),
            "restartPolicy": "Always",
            "enableServiceLinks": False,
            "readinessGates": [{"conditionType": SERVING}],
            "securityContext": pod_security(cluster),
            **placement(cluster),
            **account(cluster),
            **_grace(cluster.spec.pod or PodPolicy()),
            "initContainers": init_containers(cluster, launch, images=images),
            "containers": [etcd_container(cluster, launch, images=images)],
            "volumes": volumes(cluster, launch),
        },
    }


def _grace(policy: PodPolicy) -> dict[str, Any]:
    seconds = policy.termination_grace_period_seconds
    return {} if seconds is None else {"terminationGracePeriodSeconds": seconds}
