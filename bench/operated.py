"""A box with the operator in it, and what the benchmarks do and see there.

Everything is measured where a user would see it: objects are created through the API, and a pod is ready when the API
server says so to whoever watches.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

import yaml

from bench.boxes import NAMESPACE, a_box
from bench.operator_metrics import Scrape
from box.layout import REPOSITORY
from etcd_operator.kube.budget import Budget
from etcd_operator.kube.client import Client
from etcd_operator.kube.errors import NotFoundError
from etcd_operator.kube.informer import Informer
from etcd_operator.kube.kubeconfig import from_kubeconfig
from etcd_operator.kube.objects import Manifest
from etcd_operator.kube.projections import Pod
from etcd_operator.kube.requests import PatchKind, Selection
from etcd_operator.kube.resources import ETCD_CLUSTERS, PODS, Resource
from etcd_operator.kube.surroundings import user_agent
from tests.box.driving import Box

INSTALLATION = REPOSITORY / "deploy" / "install-namespaced.yaml"
OPERATOR = {"name": "etcd-operator"}
PATIENCE = 300.0
REST = 7.0  # seconds: for 5 s after a change etcd refuses the next, and that is no operator's doing
LOOK = 0.2

Labels = Mapping[str, str]


def ready(pod: Pod) -> bool:
    holds = any(condition.type == "Ready" and condition.status == "True" for condition in pod.status.conditions)
    return holds and pod.metadata.deletion_timestamp is None


def members_of(name: str) -> Labels:
    return {"app": "etcd", "etcd_cluster": name}


@dataclass(frozen=True)
class World:
    box: Box
    client: Client
    pods: Informer[Pod]

    def found(self, labels: Labels) -> list[Pod]:
        return [pod for pod in self.pods.store if labels.items() <= pod.metadata.labels.items()]

    def ready(self, labels: Labels, *, but: str = "") -> int:
        """How many are ready, without the one that has a UID."""
        return sum(ready(pod) for pod in self.found(labels) if pod.metadata.uid != but)

    async def until(self, claim: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENCE):
            await self.pods.until(claim)

    async def timed(self, begin: Callable[[], Awaitable[object]], claim: Callable[[], bool]) -> float:
        """Seconds from the first call to the moment at which the pods are as they should be."""
        began = time.perf_counter()
        await begin()
        await self.until(claim)
        return time.perf_counter() - began

    async def gone(self, resource: Resource, name: str, labels: Labels) -> None:
        """Deletes it and waits for its pods to go, so that what follows has the machine for itself."""
        with suppress(NotFoundError):
            await self.client.delete(resource, name, namespace=NAMESPACE, propagation="Background")
        await self.until(lambda: not self.found(labels))

    async def create_cluster(self, name: str, *, size: int, version: str) -> None:
        manifest = {"metadata": {"name": name, "namespace": NAMESPACE}, "spec": {"size": size, "version": version}}
        await self.client.create(ETCD_CLUSTERS, manifest)

    async def change_cluster(self, name: str, **spec: object) -> None:
        await self.client.patch(ETCD_CLUSTERS, name, {"spec": spec}, kind=PatchKind.MERGE, namespace=NAMESPACE)

    async def status(self, name: str) -> Manifest:
        found = await self.client.get(ETCD_CLUSTERS, name, namespace=NAMESPACE)
        status: Manifest = found.get("status") or {}
        return status

    async def settled(self, name: str, *, size: int, version: str) -> Manifest:
        """Until the operator has nothing more to do with a cluster; its status then."""
        wanted = {"membersReady": f"{size}/{size}", "currentVersion": version, "operation": None}
        async with asyncio.timeout(PATIENCE):
            while True:
                status = await self.status(name)
                if wanted.items() <= {"operation": None, **status}.items():
                    return status
                await asyncio.sleep(LOOK)

    async def delete_pod(self, name: str) -> None:
        await self.client.delete(PODS, name, namespace=NAMESPACE)

    async def scrape(self) -> Scrape:
        """The operator's own metrics, as they are now."""
        [pod] = self.found(OPERATOR)
        return Scrape.read(await self.metrics_page(pod, 8080))

    async def metrics_page(self, pod: Pod, port: int) -> str:
        path = f"/api/v1/namespaces/{NAMESPACE}/pods/{pod.metadata.name}:{port}/proxy/metrics"
        return await asyncio.to_thread(self.box.kubectl, "get", "--raw", path)


@asynccontextmanager
async def operated() -> AsyncIterator[World]:
    """With one operator that is ready to work."""
    with a_box(nodes=3) as box:
        box("image", "build", timeout=900)  # what is measured is what is here, and not what was here yesterday
        box.apply(*_installation())
        connection = from_kubeconfig(files=(box.layout.kubeconfig,))
        budget = Budget(per_second=1e6, burst=1000)  # the operator is measured, not how long this client has to wait
        async with Client(connection, user_agent=user_agent("bench"), budget=budget) as client:
            pods = Informer(client, Selection(PODS, namespace=NAMESPACE), into=Pod)
            following = asyncio.create_task(pods.run())
            try:
                world = World(box, client, pods)
                await world.until(lambda: world.ready(OPERATOR) == 1)
                yield world
            finally:
                following.cancel()
                await asyncio.wait({following})


def _installation() -> list[dict[str, Any]]:
    """With one replica: whom to ask for metrics is clear then."""
    objects: list[dict[str, Any]] = [each for each in yaml.safe_load_all(INSTALLATION.read_text()) if each]
    for each in objects:
        each["metadata"]["namespace"] = NAMESPACE
        if each["kind"] == "Deployment":
            each["spec"]["replicas"] = 1
        for subject in each.get("subjects", ()):
            subject.setdefault("namespace", NAMESPACE)
    return objects
