"""How the operator runs: its Deployment, its budget for drains, and the service behind which its metrics are."""

from __future__ import annotations

from typing import Any

from dev.generating.rights import OPERATOR

Manifest = dict[str, Any]

IMAGE = f"{OPERATOR}:dev"  # what the box and the Containerfile make; no registry has it yet
PORT = 8080
LABELS = {"name": OPERATOR}  # as it always was
REPLICAS = 2


def deployment(*, namespace: str, arguments: tuple[str, ...]) -> Manifest:
    """Two, of which one acts: the other takes over within seconds, and the new one is there before the old goes."""
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": metadata(OPERATOR, namespace),
        "spec": {
            "replicas": REPLICAS,
            "selector": {"matchLabels": LABELS},
            "template": {
                "metadata": {"labels": LABELS},
                "spec": {
                    "serviceAccountName": OPERATOR,
                    "enableServiceLinks": False,
                    "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
                    "topologySpreadConstraints": [_apart("kubernetes.io/hostname")],
                    "containers": [container(arguments)],
                },
            },
        },
    }


def container(arguments: tuple[str, ...]) -> Manifest:
    """Its user is the image's, a number that is not root's; a platform that has users of its own may give another."""
    return {
        "name": OPERATOR,
        "image": IMAGE,
        "command": [OPERATOR, *arguments],
        "env": [_from_pod("MY_POD_NAMESPACE", "metadata.namespace"), _from_pod("MY_POD_NAME", "metadata.name")],
        "ports": [{"name": "http", "containerPort": PORT}],
        "livenessProbe": {"httpGet": {"path": "/healthz", "port": "http"}, "timeoutSeconds": 5, "failureThreshold": 6},
        "readinessProbe": {"httpGet": {"path": "/readyz", "port": "http"}, "timeoutSeconds": 5, "periodSeconds": 5},
        # No limit of CPU: a throttled operator would renew its lease late and lose it.
        "resources": {"requests": {"cpu": "50m", "memory": "128Mi"}, "limits": {"memory": "512Mi"}},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": True,
        },
    }


def disruption_budget(namespace: str) -> Manifest:
    """A drain leaves one; one that is not ready protects nothing and may go."""
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": metadata(OPERATOR, namespace),
        "spec": {
            "maxUnavailable": 1,
            "selector": {"matchLabels": LABELS},
            "unhealthyPodEvictionPolicy": "AlwaysAllow",
        },
    }


def metrics_service(namespace: str) -> Manifest:
    """Headless, so that whoever collects metrics finds each operator, also one that is not ready."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {**metadata(f"{OPERATOR}-metrics", namespace), "labels": LABELS},
        "spec": {
            "clusterIP": "None",
            "publishNotReadyAddresses": True,
            "selector": LABELS,
            "ports": [{"name": "http", "port": PORT, "targetPort": "http"}],
        },
    }


def metadata(name: str, namespace: str) -> Manifest:
    """Without a namespace an object goes where `kubectl -n` says."""
    return {"name": name, **({"namespace": namespace} if namespace else {})}


def _apart(topology: str) -> Manifest:
    return {
        "maxSkew": 1,
        "topologyKey": topology,
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchLabels": LABELS},
    }


def _from_pod(name: str, path: str) -> Manifest:
    return {"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}}
