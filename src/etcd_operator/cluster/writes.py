"""What one loop writes to Kubernetes, each write noted, so that the next turn waits until the caches show it.

A call without an answer may have had its effect: then the cache is listed anew before anything else is decided. A name
that is taken by an object of ours is a write of an earlier turn whose answer was lost. Before something is deleted, the
object and its cluster are read afresh: a cache may be minutes old, and in the meantime all of it may be another's.

Each write is begun only while the lease is ours for longer than it may take. The cluster's own object is written only
as it was found, or as we have made it since.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol

from etcd_operator.cluster.caches import cluster_uids
from etcd_operator.cluster.outcome import NotDoneError
from etcd_operator.kube.client import Client
from etcd_operator.kube.errors import AlreadyExistsError, ConflictError, KubeError, NotFoundError
from etcd_operator.kube.expectations import Expectations
from etcd_operator.kube.informer import Informer
from etcd_operator.kube.objects import Manifest, Metadata, PartialObject
from etcd_operator.kube.projections import CustomObject
from etcd_operator.kube.requests import PatchKind
from etcd_operator.kube.resources import ETCD_CLUSTERS
from etcd_operator.kube.store import Key

MANAGER = "etcd-operator"
DEADLINE = 5.0  # seconds
MARGIN = 1.0

Cache = Informer[Any]


class Lease(Protocol):
    """Whether another operator can be at work."""

    def still_ours(self, margin: float) -> bool: ...


class Writes:
    """In the name of one cluster. `version` is that of its object, as it was found or as it was left here."""

    def __init__(self, client: Client, cluster: Metadata, *, expectations: Expectations, lease: Lease) -> None:
        self.version = cluster.resource_version
        self._client = client
        self._expectations = expectations
        self._lease = lease
        self._uid = cluster.uid
        self._cluster = Key(cluster.namespace, cluster.name)

    def hold(self, seconds: float) -> None:
        """What takes so long at most may begin now: nobody else can be at work before it has ended."""
        if not self._lease.still_ours(seconds + MARGIN):
            raise NotDoneError("LeaseNotRenewed", "the lease of this operator was not renewed lately")

    async def create(self, cache: Cache, manifest: Manifest) -> None:
        resource = cache.selection.resource
        self.hold(DEADLINE)
        try:
            with self._noting(cache):
                made = await self._client.create(resource, manifest, into=PartialObject, deadline=DEADLINE)
        except AlreadyExistsError:
            made = await self._read(cache, manifest["metadata"]["name"])
            if self._uid not in cluster_uids(made):
                text = f"{resource.kind} {made.metadata.name} is there already and belongs to somebody else"
                raise NotDoneError("NameTaken", text) from None
        self._expectations.written(cache, made.metadata.resource_version)

    async def patch(
        self, cache: Cache, name: str, change: Manifest, *, kind: PatchKind = PatchKind.STRATEGIC, subresource: str = ""
    ) -> str:
        """The version that the object has then."""
        self.hold(DEADLINE)
        with self._noting(cache):
            made = await self._client.patch(
                cache.selection.resource,
                name,
                change,
                kind=kind,
                namespace=self._cluster.namespace,
                subresource=subresource or None,
                into=PartialObject,
                deadline=DEADLINE,
            )
        self._expectations.written(cache, made.metadata.resource_version)
        return made.metadata.resource_version

    async def apply(self, cache: Cache, manifest: Manifest, *, force: bool) -> None:
        self.hold(DEADLINE)
        with self._noting(cache):
            made = await self._client.apply(
                cache.selection.resource, manifest, manager=MANAGER, force=force, into=PartialObject, deadline=DEADLINE
            )
        self._expectations.written(cache, made.metadata.resource_version)

    async def status(self, cache: Cache, manifest: Manifest) -> CustomObject:
        """ConflictError if the object is not what it was; so it needs no lease to be safe."""
        metadata = {**manifest["metadata"], "resourceVersion": self.version}
        with self._noting(cache):
            made = await self._client.apply_status(
                ETCD_CLUSTERS,
                {**manifest, "metadata": metadata},
                manager=MANAGER,
                into=CustomObject,
                deadline=DEADLINE,
            )
        self.version = made.metadata.resource_version
        self._expectations.written(cache, self.version)
        return made

    async def annotate(self, cache: Cache, annotations: Mapping[str, str]) -> None:
        """The cluster's own object, on the same condition."""
        metadata = {"uid": self._uid, "resourceVersion": self.version, "annotations": dict(annotations)}
        change = {"metadata": metadata}
        self.version = await self.patch(cache, self._cluster.name, change, kind=PatchKind.MERGE)

    async def delete(self, cache: Cache, name: str, *, uid: str) -> None:
        """Of an object that is still the one meant, and whose cluster is; else there is nothing left to do."""
        namespace, resource = self._cluster.namespace, cache.selection.resource
        try:
            found, _ = await asyncio.gather(self._read(cache, name), self._still_there())
        except NotFoundError as error:
            if error.request.endswith(f"/{ETCD_CLUSTERS.plural}/{self._cluster.name}"):
                raise NotDoneError("ClusterGone", f"the cluster {self._cluster} is no more") from None
            return
        if found.metadata.uid != uid:
            return
        try:
            if found.metadata.deletion_timestamp is None:
                self.hold(DEADLINE)
                with self._noting(cache):
                    await self._client.delete(resource, name, namespace=namespace, uid=uid, deadline=DEADLINE)
        except (NotFoundError, ConflictError):
            return
        self._expectations.deleted(cache, Key(namespace, name), uid=uid)

    async def unchanged(self) -> bool:
        """Whether the cluster's object is what it was: a watch that is dead tells nothing of it for a minute."""
        return (await self._read_cluster()).metadata.resource_version == self.version

    async def refreshed(self, cache: Cache) -> None:
        """After a conflict about the cluster's own object: the next turn sees it as it is now."""
        found = await self._read(cache, self._cluster.name)
        self._expectations.written(cache, found.metadata.resource_version)

    async def _read(self, cache: Cache, name: str) -> PartialObject:
        return await self._client.get(
            cache.selection.resource, name, namespace=self._cluster.namespace, into=PartialObject, deadline=DEADLINE
        )

    async def _read_cluster(self) -> PartialObject:
        name, namespace = self._cluster.name, self._cluster.namespace
        return await self._client.get(ETCD_CLUSTERS, name, namespace=namespace, into=PartialObject, deadline=DEADLINE)

    async def _still_there(self) -> None:
        found = await self._read_cluster()
        if found.metadata.uid != self._uid or found.metadata.deletion_timestamp is not None:
            raise NotDoneError("ClusterGone", f"the cluster {self._cluster} is no more, or another by now")

    @contextmanager
    def _noting(self, cache: Cache) -> Iterator[None]:
        try:
            yield
        except KubeError as error:
            if error.may_have_happened:
                self._expectations.unsure(cache)
            raise
