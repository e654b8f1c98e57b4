"""What a loop writes to its own object: only on what it has looked at, and on what it has made of it since."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from box.layout import REPOSITORY
from etcd_operator.api.cluster import ClusterStatus, EtcdCluster
from etcd_operator.api.reading import status_apply
from etcd_operator.cluster.caches import Caches
from etcd_operator.cluster.writes import Writes
from etcd_operator.kube.client import Client
from etcd_operator.kube.errors import ConflictError
from etcd_operator.kube.expectations import Expectations
from etcd_operator.kube.kubeconfig import from_kubeconfig
from etcd_operator.kube.objects import Manifest, PartialObject
from etcd_operator.kube.requests import PatchKind
from etcd_operator.kube.resources import ETCD_CLUSTERS
from tests.box.cluster.clusters import manifest
from tests.box.driving import Box

DEFINITION = str(REPOSITORY / "deploy" / "crds" / "etcdclusters.yaml")


class Ours:
    """A lease that nobody else wants."""

    def still_ours(self, margin: float) -> bool:
        return margin > 0


class Loop:
    """What a turn has in hand: the object as it was found, and whoever writes for it."""

    def __init__(self, client: Client, caches: Caches, found: PartialObject) -> None:
        self._found = found
        self._client = client
        self.caches = caches
        self.expectations = Expectations()
        self.writes = Writes(client, found.metadata, expectations=self.expectations, lease=Ours())

    async def status(self, phase: str) -> None:
        status = status_apply(EtcdCluster, self._found.metadata, ClusterStatus(phase=phase))
        await self.writes.status(self.caches.clusters, status)

    async def somebody_scales(self, size: int) -> None:
        metadata, change = self._found.metadata, {"spec": {"size": size}}
        await self._client.patch(
            ETCD_CLUSTERS, metadata.name, change, kind=PatchKind.MERGE, namespace=metadata.namespace
        )

    async def stored(self) -> Manifest:
        metadata = self._found.metadata
        return await self._client.get(ETCD_CLUSTERS, metadata.name, namespace=metadata.namespace)


@pytest.fixture
async def loop(box: Box, namespace: str) -> AsyncIterator[Loop]:
    """Of a cluster that no operator looks after."""
    box.kubectl("apply", "--server-side", "--force-conflicts", "-f", DEFINITION)
    wanted = manifest("demo", namespace, {"size": 3}, annotations={"etcd.database.coreos.com/scope": "nobody"})
    async with Client(from_kubeconfig(files=(box.layout.kubeconfig,)), user_agent="etcd-operator/test") as client:
        caches = Caches(client, namespace=namespace)
        async with caches.running():
            found = await client.create(ETCD_CLUSTERS, wanted, into=PartialObject)
            yield Loop(client, caches, found)


async def test_a_status_is_not_written_over_what_somebody_has_changed_meanwhile(loop: Loop) -> None:
    await loop.somebody_scales(5)

    with pytest.raises(ConflictError):
        await loop.status("Running")

    assert "phase" not in (await loop.stored()).get("status", {})


async def test_what_goes_wrong_later_in_a_turn_is_not_written_over_it_either(loop: Loop) -> None:
    await loop.status("Creating")
    await loop.somebody_scales(5)

    with pytest.raises(ConflictError):
        await loop.status("Failed")
    with pytest.raises(ConflictError):
        await loop.writes.annotate(loop.caches.clusters, {"example.test/note": "of the past"})

    assert (await loop.stored())["status"]["phase"] == "Creating"


async def test_our_own_writes_of_the_turn_do_not_count(loop: Loop) -> None:
    await loop.status("Creating")
    await loop.writes.annotate(loop.caches.clusters, {"example.test/note": "of ours"})
    await loop.status("Running")

    stored = await loop.stored()
    assert (stored["status"]["phase"], stored["metadata"]["annotations"]["example.test/note"]) == ("Running", "of ours")
    async with asyncio.timeout(30):
        await loop.expectations.met()


async def test_a_change_that_no_watch_has_told_of_is_seen_all_the_same(loop: Loop) -> None:
    assert await loop.writes.unchanged()
    await loop.status("Creating")
    assert await loop.writes.unchanged()

    await loop.somebody_scales(5)

    assert not await loop.writes.unchanged()
