"""All clusters: informers that wake loops, one loop each, and what they share.

Children wake the loop of their owner. A claim that is to outlive its cluster has no owner; its label names the cluster.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass

from etcd_operator.cluster.caches import Caches
from etcd_operator.cluster.crowd import Crowd
from etcd_operator.cluster.images import Images
from etcd_operator.cluster.isolation import Silences
from etcd_operator.cluster.observe import Observer
from etcd_operator.cluster.scope import in_scope
from etcd_operator.cluster.secrets import Secrets
from etcd_operator.cluster.turn import TurnFailedError, Turns
from etcd_operator.cluster.turned import Turned
from etcd_operator.cluster.writes import Lease
from etcd_operator.etcd.metrics import MetricsPages
from etcd_operator.etcd.pool import Pool
from etcd_operator.kube import wakes
from etcd_operator.kube.client import Client
from etcd_operator.kube.lease import boot_clock
from etcd_operator.kube.loops import Failure, Loops, log_failure
from etcd_operator.kube.recorder import Recorder
from etcd_operator.kube.resources import ETCD_CLUSTERS
from etcd_operator.kube.store import Difference, Key, Named

__all__ = ["Controller", "Settings", "Turned"]

log = logging.getLogger(__name__)

CLUSTER_LABEL = "etcd_cluster"


@dataclass(frozen=True)
class Settings:
    namespace: str | None  # None: all
    cluster_wide: bool
    images: Images


class Controller:
    def __init__(
        self,
        client: Client,
        *,
        pool: Pool,
        recorder: Recorder,
        election: Lease,
        settings: Settings,
        report: Callable[[Turned], None],
        forget: Callable[[Key], None],
    ) -> None:
        self._settings = settings
        self._pages = MetricsPages()
        self._caches = Caches(client, namespace=settings.namespace)
        observer = Observer(
            client=client,
            caches=self._caches,
            secrets=Secrets(client),
            pool=pool,
            pages=self._pages,
            silences=Silences(boot_clock),
            crowd=Crowd(),
            images=settings.images,
        )
        self._turns = Turns(
            observer,
            lease=election,
            recorder=recorder,
            cluster_wide=settings.cluster_wide,
            report=report,
            forget=forget,
        )
        self.loops: Loops[Key] = Loops(self._turns, report=_told)
        self.synced = asyncio.Event()

    async def run(self) -> None:
        """Until cancelled; then steps under way are brought to their end while the caches still follow."""
        try:
            async with self._caches.running(), self.loops:
                self._subscribe()
                self.synced.set()
                await asyncio.get_running_loop().create_future()
        finally:
            await self._pages.close()

    def _subscribe(self) -> None:
        caches, by_owner = self._caches, wakes.by_owner(self.loops, ETCD_CLUSTERS)
        caches.clusters.subscribe(self._heard)
        for children in (caches.pods, caches.services, caches.budgets):
            children.subscribe(by_owner)
        caches.claims.subscribe(self._heard_of_claim)

    def _heard(self, difference: Difference[Named]) -> None:
        if self._turns.is_echo(difference):
            return
        ours = in_scope(difference.object, cluster_wide=self._settings.cluster_wide)
        if ours or difference.key in self.loops:
            self.loops.wake(difference.key, afresh=wakes.on_purpose(difference))

    def _heard_of_claim(self, difference: Difference[Named]) -> None:
        metadata = difference.object.metadata
        key = Key(metadata.namespace, metadata.labels.get(CLUSTER_LABEL, ""))
        if key in self.loops:
            self.loops.wake(key)


def _told(failure: Failure[Key]) -> None:
    """What could be expected was reported with its turn; what is left is a defect."""
    if not isinstance(failure.error, TurnFailedError):
        log_failure(failure)
