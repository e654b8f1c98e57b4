"""What a cluster is measured against: the same pods without an operator.

One bare pod of etcd, with nothing before it and nobody to wait for, is what this machine needs at the least. Three in a
StatefulSet that know each other from the beginning are what Kubernetes can do by itself; they have the member's own
init step and probes, so that what is left is the operator's doing: members that join one by one.
"""

from __future__ import annotations

import json

from etcd_operator.api.cluster import ClusterSpec, EtcdCluster
from etcd_operator.cluster.images import Images
from etcd_operator.cluster.launch import Launch
from etcd_operator.cluster.pod import member_pod
from etcd_operator.kube.objects import Manifest, Metadata
from etcd_operator.member.settings import State

OPERATOR_IMAGE = "etcd-operator:dev"
IMAGES = Images(operator=OPERATOR_IMAGE, etcd_repository="quay.io/coreos/etcd")
SET = "rival"
SIZE = 3
OWN_NAME = "$(pod)"  # the kubelet puts the name of each pod there
LABELS = {"app": "rival"}


def bare_pod(name: str, *, version: str, namespace: str) -> Manifest:
    """Etcd alone, from its start to the first answer of its readiness probe."""
    pod = _pod(name, "127.0.0.1", version=version, namespace=namespace)
    metadata = {"name": name, "namespace": namespace, "labels": LABELS}
    return {**pod, "metadata": metadata, "spec": _without(pod["spec"], "initContainers")}


def peer_service(namespace: str) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": SET, "namespace": namespace},
        "spec": {
            "clusterIP": "None",
            "publishNotReadyAddresses": True,
            "selector": LABELS,
            "ports": [{"name": "peer", "port": 2380}],
        },
    }


def stateful_set(*, version: str, namespace: str) -> Manifest:
    """A static cluster, all three started at once."""
    spec = _pod(OWN_NAME, f"{OWN_NAME}.{SET}.{namespace}.svc", version=version, namespace=namespace)["spec"]
    alone = f"{OWN_NAME}=http://{OWN_NAME}.{SET}.{namespace}.svc:2380"
    everybody = ",".join(alone.replace(OWN_NAME, f"{SET}-{number}") for number in range(SIZE))
    spec = json.loads(json.dumps(spec).replace(alone, everybody))
    for container in (*spec["initContainers"], *spec["containers"]):
        container["env"].insert(0, {"name": "pod", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}})
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": SET, "namespace": namespace},
        "spec": {
            "serviceName": SET,
            "replicas": SIZE,
            "podManagementPolicy": "Parallel",
            "selector": {"matchLabels": LABELS},
            "template": {"metadata": {"labels": LABELS}, "spec": _without(spec, "hostname", "subdomain")},
        },
    }


def _pod(member: str, host: str, *, version: str, namespace: str) -> Manifest:
    """A seed's, but for the gate: here is nobody to open it."""
    cluster = EtcdCluster(
        metadata=Metadata(name=SET, namespace=namespace, uid="rival"), spec=ClusterSpec(size=SIZE, version=version)
    )
    launch = Launch(
        member=member,
        version=version,
        state=State.NEW,
        initial_cluster={member: frozenset({f"http://{host}:2380"})},
        on_claim=False,
        token=SET,
    )
    pod = member_pod(cluster, launch, images=IMAGES)
    return {**pod, "spec": _without(pod["spec"], "readinessGates")}


def _without(part: Manifest, *keys: str) -> Manifest:
    return {key: value for key, value in part.items() if key not in keys}
