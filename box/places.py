"""What people call things: pods, nodes, addresses and components, by name."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass

from box.kube.api import Api, ApiError
from box.layout import CONTROL_PLANE, SERVICE_RANGE, BoxError
from box.network.faults import node_places

_NODE = re.compile(r"cp|w[1-9]")
_ON_WORKERS = ("kubelet", "containerd", "proxy")
_ON_CONTROL_PLANE = ("etcd", "apiserver", "controller-manager", "scheduler")


@dataclass(frozen=True)
class Place:
    """Where packets come from or go to."""

    addresses: tuple[str, ...]
    node: str = ""
    is_node: bool = False


@dataclass(frozen=True)
class Component:
    """A program of the box; without a node it runs beside them."""

    name: str
    node: str = ""

    @property
    def label(self) -> str:
        return f"{self.name}@{self.node}" if self.node and self.node != CONTROL_PLANE else self.name


def resolve(api: Api, text: str, *, nodes: tuple[str, ...]) -> Place:
    """A node such as `w1`, an address, or a pod as `NAME` or `NAMESPACE/NAME`."""
    if _NODE.fullmatch(text):
        if text not in nodes:
            raise BoxError(f"there is no node '{text}', there are: {', '.join(nodes)}")
        return Place(node_places(text), node=text, is_node=True)
    try:
        place = ipaddress.IPv4Network(text)
    except ValueError:
        return _pod(api, text)
    if place.overlaps(ipaddress.IPv4Network(SERVICE_RANGE)):
        raise BoxError(f"{text} is a service's address, which no packet has on its way: name the pods behind it")
    return Place((str(place),))


def component(text: str) -> Component:
    """`apiserver`, `kube-apiserver`, `kubelet@w1`, `s3`."""
    name, _, node = text.partition("@")
    name = name.removeprefix("kube-") if name.removeprefix("kube-") in (*_ON_WORKERS, *_ON_CONTROL_PLANE) else name
    if name in _ON_WORKERS and not node:
        raise BoxError(f"{name} runs on every worker: say which, such as {name}@w1")
    if name in _ON_CONTROL_PLANE:
        return Component(name, node or CONTROL_PLANE)
    return Component(name, node)


def _pod(api: Api, text: str) -> Place:
    namespace, _, name = text.rpartition("/")
    namespace = namespace or "default"
    try:
        pod = api.get(f"/api/v1/namespaces/{namespace}/pods/{name}")
    except ApiError as error:
        if not error.not_found:
            raise
        raise BoxError(f"'{text}' is no node, no address, and there is no pod {name} in {namespace}") from error
    address = pod.get("status", {}).get("podIP")
    if not address:
        raise BoxError(f"the pod {namespace}/{name} has no address yet")
    return Place((address,), node=pod["spec"]["nodeName"])
