"""Pods and services that the tests put on a box."""

from __future__ import annotations

from typing import Any

from tests.box.driving import Box, eventually

Object = dict[str, Any]

WEB = "mkdir -p /tmp/w && hostname > /tmp/w/index.html && echo started && exec httpd -f -p 8080 -h /tmp/w"


def web(name: str, namespace: str, *, node: str = "", labels: dict[str, str] | None = None, **spec: Any) -> Object:
    """A pod that answers HTTP on 8080 with its own name."""
    return pod(name, namespace, command=["sh", "-c", WEB], node=node, labels=labels, probe=True, **spec)


def pod(
    name: str,
    namespace: str,
    *,
    command: list[str],
    node: str = "",
    labels: dict[str, str] | None = None,
    probe: bool = False,
    **spec: Any,
) -> Object:
    container: Object = {
        "name": "main",
        "image": "busybox",
        "imagePullPolicy": "IfNotPresent",
        "command": command,
        "volumeMounts": spec.pop("mounts", []),
    }
    if probe:
        container["readinessProbe"] = {"httpGet": {"path": "/", "port": 8080}, "periodSeconds": 1}
    if node:
        spec["nodeSelector"] = {"kubernetes.io/hostname": node}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, "labels": labels or {"app": name}},
        "spec": {"terminationGracePeriodSeconds": 1, "containers": [container], **spec},
    }


def service(name: str, namespace: str, *, selector: dict[str, str], port: int = 80, **spec: Any) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"selector": selector, "ports": [{"port": port, "targetPort": 8080}], **spec},
    }


def wait_ready(box: Box, namespace: str, *names: str) -> dict[str, str]:
    """Waits until the pods are ready; returns their addresses by name."""
    box.kubectl("wait", "-n", namespace, "--for=condition=Ready", "--timeout=90s", *(f"pod/{name}" for name in names))
    return {name: box.get("pod", name, namespace)["status"]["podIP"] for name in names}


def fetch(box: Box, namespace: str, source: str, url: str) -> str:
    """What a pod gets from an address within a few seconds."""
    return box.exec(namespace, source, "timeout", "5", "wget", "-q", "-O", "-", url).strip()


def reaches(box: Box, namespace: str, source: str, url: str) -> bool:
    """Whether a pod gets an answer from an address within a few seconds."""
    script = f"timeout 3 wget -q -O - {url} || echo nothing"
    return "nothing" not in box.exec(namespace, source, "sh", "-c", script)


def node_ready(box: Box, name: str) -> bool:
    conditions = box.api.get(f"/api/v1/nodes/{name}")["status"]["conditions"]
    return any(entry["type"] == "Ready" and entry["status"] == "True" for entry in conditions)


def wait_node(box: Box, name: str, *, ready: bool) -> None:
    eventually(lambda: node_ready(box, name) is ready, within=90)
