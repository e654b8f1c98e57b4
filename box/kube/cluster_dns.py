"""The cluster's name server: CoreDNS as Kubernetes installs it, without a way to ask anyone outside."""

from __future__ import annotations

import socket
import struct
from typing import Any

from box.layout import CLUSTER_DOMAIN, DNS_SERVICE_ADDRESS

Object = dict[str, Any]
NAMESPACE = "kube-system"
_LABELS = {"k8s-app": "kube-dns"}

_COREFILE = f""".:53 {{
    errors
    health {{
        lameduck 1s
    }}
    ready
    kubernetes {CLUSTER_DOMAIN} in-addr.arpa ip6.arpa {{
        pods insecure
        fallthrough in-addr.arpa ip6.arpa
        ttl 5
    }}
    cache 5 {{
        disable denial {CLUSTER_DOMAIN}
    }}
    reload
}}
"""


def objects(*, image: str, replicas: int) -> list[Object]:
    return [_account(), _role(), _binding(), _configuration(), _deployment(image, replicas), _service()]


def resolv_conf() -> str:
    """For a program in the box's network that is no pod: names as a pod of the namespace `default` knows them."""
    search = " ".join((f"default.svc.{CLUSTER_DOMAIN}", f"svc.{CLUSTER_DOMAIN}", CLUSTER_DOMAIN))
    return f"nameserver {DNS_SERVICE_ADDRESS}\nsearch {search}\noptions ndots:5\n"


def answers(name: str = f"kubernetes.default.svc.{CLUSTER_DOMAIN}") -> bool:
    """Whether the name service knows a name, asked at its service address as a pod would."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as question:
        question.settimeout(0.5)
        try:
            question.connect((DNS_SERVICE_ADDRESS, 53))
            question.send(_question(name))
            header = question.recv(512)[:12]
        except OSError:
            return False
    return len(header) == 12 and struct.unpack(">6H", header)[3] > 0


def _question(name: str) -> bytes:
    labels = b"".join(bytes([len(label)]) + label.encode() for label in name.split("."))
    return struct.pack(">6H", 1, 0x0100, 1, 0, 0, 0) + labels + b"\0" + struct.pack(">2H", 1, 1)


def _metadata(name: str, **more: object) -> Object:
    return {"name": name, "namespace": NAMESPACE, **more}


def _account() -> Object:
    return {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": _metadata("coredns")}


def _role() -> Object:
    read = ["list", "watch"]
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": "system:coredns"},
        "rules": [
            {"apiGroups": [""], "resources": ["endpoints", "services", "pods", "namespaces"], "verbs": read},
            {"apiGroups": ["discovery.k8s.io"], "resources": ["endpointslices"], "verbs": read},
        ],
    }


def _binding() -> Object:
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": "system:coredns"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "system:coredns"},
        "subjects": [{"kind": "ServiceAccount", "name": "coredns", "namespace": NAMESPACE}],
    }


def _configuration() -> Object:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": _metadata("coredns"),
        "data": {"Corefile": _COREFILE},
    }


def _deployment(image: str, replicas: int) -> Object:
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": _metadata("coredns", labels=_LABELS),
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": _LABELS},
            "template": {"metadata": {"labels": _LABELS}, "spec": _pod(image)},
        },
    }


def _pod(image: str) -> Object:
    # A name server on a lost node is replaced long before its users are: they wait for names.
    leave_soon = [
        {"key": f"node.kubernetes.io/{taint}", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5}
        for taint in ("not-ready", "unreachable")
    ]
    spread = {
        "maxSkew": 1,
        "topologyKey": "kubernetes.io/hostname",
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchLabels": _LABELS},
    }
    return {
        "serviceAccountName": "coredns",
        "dnsPolicy": "Default",
        "priorityClassName": "system-cluster-critical",
        "tolerations": leave_soon,
        "topologySpreadConstraints": [spread],
        "containers": [_container(image)],
        "volumes": [{"name": "configuration", "configMap": {"name": "coredns"}}],
    }


def _container(image: str) -> Object:
    return {
        "name": "coredns",
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "command": ["/coredns", "-conf", "/etc/coredns/Corefile"],
        "resources": {"requests": {"cpu": "20m", "memory": "40Mi"}},
        "ports": [
            {"name": "dns", "containerPort": 53, "protocol": "UDP"},
            {"name": "dns-tcp", "containerPort": 53, "protocol": "TCP"},
        ],
        "readinessProbe": {"httpGet": {"path": "/ready", "port": 8181}, "periodSeconds": 1},
        "livenessProbe": {"httpGet": {"path": "/health", "port": 8080}, "periodSeconds": 10},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"add": ["NET_BIND_SERVICE"], "drop": ["ALL"]},
            "readOnlyRootFilesystem": True,
        },
        "volumeMounts": [{"name": "configuration", "mountPath": "/etc/coredns", "readOnly": True}],
    }


def _service() -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": _metadata("kube-dns", labels=_LABELS),
        "spec": {
            "clusterIP": DNS_SERVICE_ADDRESS,
            "selector": _LABELS,
            "ports": [
                {"name": "dns", "port": 53, "protocol": "UDP"},
                {"name": "dns-tcp", "port": 53, "protocol": "TCP"},
            ],
        },
    }
