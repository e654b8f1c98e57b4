"""Everything of Kubernetes that clusters are made of, as last heard: one set of informers for all clusters.

What belongs to a cluster is found by the cluster's UID, never by names: a cluster that was deleted and made again under
the same name must not be given what its predecessor left behind. And only in the cluster's own namespace: whoever may
write in another one can put any UID into a reference or a label there.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager
from typing import TypeVar

from etcd_operator.api.cluster_names import CLUSTER_UID
from etcd_operator.api.stored import Metadata
from etcd_operator.cluster.image_pull import IMAGE_PULL
from etcd_operator.kube.client import Client
from etcd_operator.kube.informer import Informer
from etcd_operator.kube.objects import PartialObject
from etcd_operator.kube.projections import Claim, CustomObject, Pod
from etcd_operator.kube.requests import Selection
from etcd_operator.kube.resources import (
    ETCD_CLUSTERS,
    PERSISTENT_VOLUME_CLAIMS,
    POD_DISRUPTION_BUDGETS,
    PODS,
    SERVICES,
    Resource,
)
from etcd_operator.kube.store import Key, Named, owner_uids

T = TypeVar("T", bound=Named)

MEMBERS = "app=etcd"
MEMBERS_AND_PULLS = f"app in (etcd,{IMAGE_PULL})"


class Caches:
    def __init__(self, client: Client, *, namespace: str | None) -> None:
        def informer(resource: Resource, into: type[T], labels: str = "") -> Informer[T]:
            return Informer(client, Selection(resource, namespace=namespace, labels=labels), into=into)

        self.clusters = informer(ETCD_CLUSTERS, CustomObject)
        self.pods = informer(PODS, Pod, MEMBERS_AND_PULLS)
        self.claims = informer(PERSISTENT_VOLUME_CLAIMS, Claim, MEMBERS)
        self.services = informer(SERVICES, PartialObject, MEMBERS)
        self.budgets = informer(POD_DISRUPTION_BUDGETS, PartialObject, MEMBERS)
        self._pods_of = self.pods.store.index(lambda pod: _here(pod, owner_uids(pod)))
        self._claims_of = self.claims.store.index(lambda claim: _here(claim, cluster_uids(claim)))
        self._selected = self.pods.store.index(_selected_by)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Goes on when everything there is has been seen once."""
        informers = (self.clusters, self.pods, self.claims, self.services, self.budgets)
        tasks = {asyncio.create_task(each.run(), name=f"informer of {each.name}") for each in informers}
        try:
            for each in informers:
                await each.synced.wait()
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)

    def cluster(self, key: Key) -> CustomObject | None:
        return self.clusters.store.get(key)

    def pods_of(self, cluster: Metadata) -> tuple[Pod, ...]:
        return self._pods_of[cluster.namespace, cluster.uid]

    def claims_of(self, cluster: Metadata) -> tuple[Claim, ...]:
        return self._claims_of[cluster.namespace, cluster.uid]

    def strangers_of(self, cluster: Metadata) -> list[Pod]:
        """Pods that are none of the cluster's, and that its services lead to all the same."""
        return [pod for pod in self._selected[Key(cluster.namespace, cluster.name)] if is_stranger(pod, cluster.uid)]


def is_stranger(pod: Pod, uid: str) -> bool:
    """One that goes is left out: no client is sent to it any more."""
    goes = pod.metadata.deletion_timestamp is not None or pod.status.phase in {"Succeeded", "Failed"}
    return not goes and uid not in owner_uids(pod)


def _here(obj: Named, uids: Iterable[str]) -> Iterator[tuple[str, str]]:
    return ((obj.metadata.namespace, uid) for uid in uids)


def _selected_by(pod: Pod) -> Iterator[Key]:
    """By which cluster's services."""
    labels = pod.metadata.labels
    if labels.get("app") == "etcd" and "etcd_cluster" in labels:
        yield Key(pod.metadata.namespace, labels["etcd_cluster"])


def cluster_uids(obj: Named) -> Iterator[str]:
    """Whose it is. A claim that is to be kept has no owner, but a label that says so."""
    yield from owner_uids(obj)
    if label := obj.metadata.labels.get(CLUSTER_UID):
        yield label
