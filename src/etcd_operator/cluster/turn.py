"""One turn of one cluster's loop: look, decide, write down what is going to be done, do it.

The status is written before the step, as it holds the intent: an operator that is killed in between finds there what it
was about to do. It is written on the condition that the object is still the one that was looked at, so that two
operators can never both believe that it is their turn, and no decision is made on a spec that has just changed.

A step that was begun is brought to its end when the operator is told to stop, within a limit.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Callable, Coroutine
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import msgspec

from etcd_operator.api.cluster import ClusterStatus, EtcdCluster
from etcd_operator.api.reading import Unreadable, decode, salvaged, status_apply
from etcd_operator.cluster.act import Hands
from etcd_operator.cluster.housekeeping import keep_house
from etcd_operator.cluster.memory import Memory
from etcd_operator.cluster.observe import Observer, Sight
from etcd_operator.cluster.outcome import NotDoneError, UnknownError
from etcd_operator.cluster.scope import in_scope
from etcd_operator.cluster.turned import Turned
from etcd_operator.cluster.unreadable import invalid, sentence
from etcd_operator.cluster.writes import Lease, Writes
from etcd_operator.kube.errors import ConflictError, KubeError
from etcd_operator.kube.events import NOTE_BYTES, EventType, reference, shortened
from etcd_operator.kube.loops import GONE, Rest
from etcd_operator.kube.projections import CustomObject
from etcd_operator.kube.recorder import Recorder
from etcd_operator.kube.resources import ETCD_CLUSTERS
from etcd_operator.kube.store import Difference, Key, Named, key_of
from etcd_operator.plan.decision import Plan
from etcd_operator.plan.ladder import plan
from etcd_operator.plan.steps import Step, Wait

log = logging.getLogger(__name__)

LAST_STEP = 15.0  # seconds that a step may still take after the operator was told to stop
CACHES_BEHIND = 60.0  # seconds; the informers list anew long before
FORGETFUL = (
    "The definition of EtcdCluster in this Kubernetes is an old one, and drops from the status what the operator notes "
    "there. Bring it up to date: kubectl apply --server-side -f deploy/crds/etcdclusters.yaml"
)


class TurnFailedError(Exception):
    """Of what can be expected: its sentence is all there is to say, and the loop backs off."""


class Turns:
    """The body of all loops."""

    def __init__(
        self,
        observer: Observer,
        *,
        lease: Lease,
        recorder: Recorder,
        cluster_wide: bool,
        report: Callable[[Turned], None],
        forget: Callable[[Key], None],
    ) -> None:
        self._observer = observer
        self._caches = observer.caches
        self._lease = lease
        self._recorder = recorder
        self._cluster_wide = cluster_wide
        self._report = report
        self._forget = forget
        self._memories: dict[Key, Memory] = {}

    async def __call__(self, key: Key) -> Rest:
        memory = self._memories.setdefault(key, Memory())
        try:
            async with asyncio.timeout(CACHES_BEHIND):
                await memory.expectations.met()
        except TimeoutError:
            raise TurnFailedError(f"the caches do not show our own writes within {CACHES_BEHIND:g} s") from None
        found = self._caches.cluster(key)
        if found is None or found.metadata.deletion_timestamp or not in_scope(found, cluster_wide=self._cluster_wide):
            self._drop(key)
            return GONE
        if memory.uid != found.metadata.uid:
            memory = self._memories[key] = Memory(uid=found.metadata.uid, expectations=memory.expectations)
        turn = Turn(found, memory=memory, observer=self._observer, lease=self._lease, recorder=self._recorder)
        try:
            return await turn.run()
        finally:
            self._report(turn.turned())

    def is_echo(self, difference: Difference[Named]) -> bool:
        """Whether the news is of what the loop itself has just written."""
        memory = self._memories.get(difference.key)
        return memory is not None and difference.new is not None and _version(difference.new) == memory.written

    def _drop(self, key: Key) -> None:
        self._memories.pop(key, None)
        self._observer.silences.forget(key)
        self._forget(key)


class Turn:
    def __init__(
        self, found: CustomObject, *, memory: Memory, observer: Observer, lease: Lease, recorder: Recorder
    ) -> None:
        self._found = found
        self._memory = memory
        self._observer = observer
        self._recorder = recorder
        self._key = key_of(found)
        self._reference = reference(ETCD_CLUSTERS, found)
        self._writes = Writes(observer.client, found.metadata, expectations=memory.expectations, lease=lease)
        self._begun = asyncio.get_running_loop().time()
        self._before = ClusterStatus()
        self._status: ClusterStatus | None = None
        self._step = ""
        self._why = ""
        self._error: str | None = None
        self._trouble = ""

    def turned(self) -> Turned:
        return Turned(
            key=self._key,
            status=self._status,
            step=self._step,
            why=self._why,
            seconds=asyncio.get_running_loop().time() - self._begun,
            error=self._error,
            trouble=self._trouble,
        )

    async def run(self) -> float | None:
        cluster = decode(EtcdCluster, self._found)
        try:
            if isinstance(cluster, EtcdCluster):
                return await self._proceed(cluster)
            await self._refuse(cluster)
            return None
        except KubeError as error:
            self._fail(_word(error), str(error))
            raise TurnFailedError(str(error)) from error
        except Exception as error:
            self._fail(_word(error), str(error))
            raise

    async def _refuse(self, found: Unreadable) -> None:
        """Until somebody changes the spec, which wakes the loop."""
        status = invalid(found, stored=self._found.status, now=datetime.now(UTC))
        self._step, self._error, self._trouble = "Refuse", "InvalidSpec", sentence(found)
        self._before = salvaged(self._found.status, ClusterStatus)
        await self._write(status)

    async def _proceed(self, cluster: EtcdCluster) -> float:
        self._before = cluster.status
        sight = await self._observer.observe(cluster, last_error=self._memory.error)
        decided = plan(sight.view)
        self._step, self._why = decided.step.name, decided.why
        if not await self._noted(decided):
            self._step, self._why = Wait.__name__, "The object was changed while it was looked at; looking again."
            await self._writes.refreshed(self._observer.caches.clusters)
            return 0.0
        for event in decided.events:
            kind = EventType.WARNING if event.warning else EventType.NORMAL
            self._recorder.record(self._reference, reason=event.reason, note=event.note, type=kind)
        return await to_its_end(self._carry_out(sight, decided), within=LAST_STEP)

    async def _noted(self, decided: Plan) -> bool:
        """Whether the object is still the one that was looked at, with the intent of a step in its status."""
        try:
            written = await self._write(decided.status)
        except ConflictError:
            return False
        return written or isinstance(decided.step, Wait) or await self._writes.unchanged()

    async def _carry_out(self, sight: Sight, decided: Plan) -> float:
        hands = Hands(sight=sight, observer=self._observer, writes=self._writes)
        try:
            undone = await keep_house(decided, hands, memory=self._memory, key=self._key)
            if not isinstance(decided.step, Wait):
                log.debug("%s of %s begins: %s", decided.step.name, self._key, decided.why)
            await hands.take(decided.step)
        except (NotDoneError, UnknownError) as error:
            await self._tell(sight, error.reason, str(error))
            return self._memory.refused(error.reason)
        except KubeError as error:
            await self._tell(sight, _word(error), str(error))
            raise
        self._memory.error = shortened(undone, NOTE_BYTES)
        if decided.step.event:
            self._recorder.record(
                self._reference, reason=decided.step.event, note=decided.why, action=decided.step.name
            )
        return self._rest(decided.step)

    async def _tell(self, sight: Sight, reason: str, text: str) -> None:
        """What went wrong, also in the status, as far as that can be written."""
        self._fail(reason, text)
        decided = plan(replace(sight.view, last_error=self._memory.error))
        try:
            await self._write(decided.status)
        except KubeError as error:
            log.debug("The status of %s was not written: %s", self._key, error)

    async def _write(self, status: ClusterStatus) -> bool:
        """Whether there was anything to write.

        An API server drops what a definition does not know. Nothing may be begun if it would be forgotten: pods would
        be made under new names again and again.
        """
        before, self._before, self._status = self._before, status, status
        if msgspec.json.encode(status) == msgspec.json.encode(before):
            return False
        manifest = status_apply(EtcdCluster, self._found.metadata, status)
        made = await self._writes.status(self._observer.caches.clusters, manifest)
        self._memory.written = _version(made)
        if is_forgotten(status, made.status):
            raise TurnFailedError(FORGETFUL)
        return True

    def _fail(self, reason: str, text: str) -> None:
        """The text may be a page: an API server's objections to a pod, or what a proxy shows to people."""
        short = shortened(text, NOTE_BYTES)
        self._error, self._trouble, self._memory.error = reason, short, short

    def _rest(self, step: Step) -> float:
        """A step is followed by the next look at once, unless it is the same again and again."""
        if isinstance(step, Wait) and step.seconds > 0:
            self._memory.waited()
            return step.seconds * random.uniform(0.9, 1.1)  # noqa: S311 - only spreads the looks
        return self._memory.taken(step)


def is_forgotten(status: ClusterStatus, stored: object) -> bool:
    """Whether the intent that was written is not what the API server has kept."""
    return salvaged(stored, ClusterStatus).operation != status.operation


def _word(error: Exception) -> str:
    return type(error).__name__.removesuffix("Error")


def _version(obj: Named) -> str:
    return obj.metadata.resource_version


async def to_its_end(work: Coroutine[Any, Any, float], *, within: float) -> float:
    """Also when the loop is cancelled meanwhile, if it does not take too long."""
    task = asyncio.create_task(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait({task}, timeout=within)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        raise
