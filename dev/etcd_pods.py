"""Three etcd members as plain pods: what a person writes who has no operator.

Nobody replaces a member that is lost, grows the cluster or upgrades it; that is what the operator is for.
"""

from __future__ import annotations

from typing import Any

Manifest = dict[str, Any]

NAMESPACE = "etcd-operator-demo"
MARK = {"app.kubernetes.io/managed-by": "etcd-operator-demo"}
MEMBERS = ("etcd-0", "etcd-1", "etcd-2")
SELECTOR = {"app": "etcd"}
CLIENT_PORT = 2379
PEER_PORT = 2380


def namespace() -> Manifest:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE, "labels": MARK}}


def headless_service() -> Manifest:
    """DNS for members, also before they are ready: peers must find each other to become so."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "etcd", "namespace": NAMESPACE},
        "spec": {
            "clusterIP": "None",
            "publishNotReadyAddresses": True,
            "selector": SELECTOR,
            "ports": [{"name": "client", "port": CLIENT_PORT}, {"name": "peer", "port": PEER_PORT}],
        },
    }


def member(name: str, *, image: str) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": NAMESPACE, "labels": SELECTOR},
        "spec": {
            "hostname": name,
            "subdomain": "etcd",
            "automountServiceAccountToken": False,
            "affinity": {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [away_from_others()]}},
            "securityContext": {
                "runAsNonRoot": True,
                "runAsUser": 65532,
                "seccompProfile": {"type": "RuntimeDefault"},
            },
            "containers": [
                {
                    "name": "etcd",
                    "image": image,
                    "imagePullPolicy": "IfNotPresent",
                    "command": command(name),
                    "readinessProbe": {"httpGet": {"path": "/health", "port": CLIENT_PORT}, "periodSeconds": 1},
                    "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
                    "volumeMounts": [{"name": "data", "mountPath": "/var/etcd"}],
                }
            ],
            "volumes": [{"name": "data", "emptyDir": {}}],
        },
    }


def away_from_others() -> Manifest:
    """A wish, not a demand: on a cluster of one node the demo runs too."""
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": SELECTOR}}
    return {"weight": 100, "podAffinityTerm": term}


def command(name: str) -> list[str]:
    return [
        "/usr/local/bin/etcd",
        f"--name={name}",
        "--data-dir=/var/etcd/data",
        f"--listen-peer-urls=http://0.0.0.0:{PEER_PORT}",
        f"--initial-advertise-peer-urls={peer_url(name)}",
        f"--listen-client-urls=http://0.0.0.0:{CLIENT_PORT}",
        f"--advertise-client-urls=http://{host(name)}:{CLIENT_PORT}",
        f"--initial-cluster={','.join(f'{each}={peer_url(each)}' for each in MEMBERS)}",
        "--initial-cluster-state=new",
        "--initial-cluster-token=demo",
    ]


def host(name: str) -> str:
    return f"{name}.etcd.{NAMESPACE}.svc"


def peer_url(name: str) -> str:
    return f"http://{host(name)}:{PEER_PORT}"


def manifests(*, image: str) -> Manifest:
    members = [member(name, image=image) for name in MEMBERS]
    return {"apiVersion": "v1", "kind": "List", "items": [namespace(), headless_service(), *members]}
