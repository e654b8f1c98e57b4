"""Waiting until a box that was started can be used, and giving it what every cluster has."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from datetime import datetime
from typing import Any

from box import control
from box.image import images
from box.kube import cluster_dns
from box.kube.api import Api, ApiError
from box.layout import BoxError, Layout
from box.progress import Say
from box.settings import Settings
from box.storage import objectstore
from box.volume import volumes

_PATIENCE = 120.0


def wait_until_ready(layout: Layout, chosen: Settings, *, alive: Callable[[], bool], say: Say) -> None:
    """Returns when all nodes and the name service are ready; gives up when the box is no longer alive."""
    api = Api.from_kubeconfig(layout.kubeconfig)
    _until(layout, alive, "the API server", api.ready)
    say("API server ready")
    for thing in _cluster_objects(chosen):
        api.apply(thing)
    _forget_other_nodes(api, chosen)
    since = chosen.started
    _until(layout, alive, "the nodes", lambda: _ready_nodes(api, since) >= set(chosen.workers))
    say(f"{len(chosen.workers)} node{'s' if chosen.nodes > 1 else ''} ready")
    _until(layout, alive, "the name service", lambda: _dns_ready(api) and control.call(layout, "dns"))
    say("DNS ready")


def _until(layout: Layout, alive: Callable[[], bool], what: str, done: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _PATIENCE
    while not done():
        if not alive():
            raise BoxError("the box ended while it was starting. See: box logs room")
        if time.monotonic() > deadline:
            problems = " ".join(control.call(layout, "status")["failures"])
            raise BoxError(f"{what} did not become ready in {_PATIENCE:.0f} s. {problems} See: box status, box logs")
        time.sleep(0.1)


def _cluster_objects(chosen: Settings) -> list[dict[str, object]]:
    image = images.COREDNS.names[0]
    return [
        *cluster_dns.objects(image=image, replicas=min(2, chosen.nodes)),
        *volumes.storage_classes(),
        *objectstore.objects(),
    ]


def _forget_other_nodes(api: Api, chosen: Settings) -> None:
    for node in api.list("/api/v1/nodes"):
        if node["metadata"]["name"] not in chosen.workers:
            api.delete(f"/api/v1/nodes/{node['metadata']['name']}")


def _ready_nodes(api: Api, since: float) -> set[str]:
    """Ready, and heard of since the box was started: a cluster that came back still shows its old state at first."""
    with contextlib.suppress(ApiError):
        ready = {node["metadata"]["name"] for node in api.list("/api/v1/nodes") if _is_ready(node)}
        leases = api.list("/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases")
        return ready & {lease["metadata"]["name"] for lease in leases if _renewed(lease) > since}
    return set()


def _renewed(lease: dict[str, Any]) -> float:
    return datetime.fromisoformat(lease["spec"].get("renewTime", "1970-01-01T00:00:00Z")).timestamp()


def _is_ready(node: dict[str, object]) -> bool:
    status = node.get("status")
    conditions = status.get("conditions", []) if isinstance(status, dict) else []
    return any(entry["type"] == "Ready" and entry["status"] == "True" for entry in conditions)


def _dns_ready(api: Api) -> bool:
    with contextlib.suppress(ApiError):
        found = api.get(f"/apis/apps/v1/namespaces/{cluster_dns.NAMESPACE}/deployments/coredns")
        status, generation = found.get("status", {}), found["metadata"]["generation"]
        current = status.get("observedGeneration") == generation
        return bool(current and status.get("readyReplicas", 0) >= found["spec"]["replicas"])
    return False
