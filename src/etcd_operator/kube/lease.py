"""Who of several operators acts: the one whose name is in a Lease, for as long as it keeps it fresh.

Clocks of different machines disagree, so the times inside a Lease are for people only. A candidate measures how long
it has not seen the record change; the holder counts from the moment *before* it asked for its last renewal. The
candidate's interval begins later than the holder's and is as long, so the holder knows first that it may be over.

The clock is that of the kernel which also runs while the machine sleeps; a process that was stopped and goes on finds
it advanced. Yet nothing in the process runs while it is stopped, and after that anything may run first: whoever is
about to change something asks `still_ours` with a margin longer than the call may take. (A virtual machine frozen from
outside may see no clock move at all, and a person may delete the Lease. Against these no lease helps, only the
preconditions of each write.)

Losing the lease is final: the work is cancelled, `LeaseLostError` is raised, and the process is meant to end. A new
process starts with a clean view; one that lost its lease and tries again would have to prove that it does.
"""

from __future__ import annotations

import asyncio
import logging
import random
import secrets
import time
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from typing import Any, Protocol, TypeVar

import msgspec

from etcd_operator.kube.backoff import Uniform
from etcd_operator.kube.errors import AlreadyExistsError, ConflictError, KubeError, NotFoundError
from etcd_operator.kube.objects import Manifest
from etcd_operator.kube.resources import LEASES, Resource

log = logging.getLogger(__name__)

R = TypeVar("R")

MICROSECONDS = "%Y-%m-%dT%H:%M:%S.%fZ"


class LeaseLostError(Exception):
    """Another may act now, so this process must not: let it end."""


class LeaseCalls(Protocol):
    """What an election needs of a Kubernetes client."""

    async def get(self, resource: Resource, name: str, /, *, namespace: str, deadline: float) -> Manifest: ...

    async def create(self, resource: Resource, manifest: Manifest, /, *, deadline: float) -> Manifest: ...

    async def update(self, resource: Resource, manifest: Manifest, /, *, deadline: float) -> Manifest: ...


class Times(msgspec.Struct, frozen=True):
    """All in seconds; the ones of the old operator by default."""

    duration: int = 15
    """How long others wait after the last sign of life; whole seconds, as Kubernetes keeps it."""

    renewal: float = 10.0
    """The holder gives up when it could not renew for so long; the rest of the duration is for ending its work."""

    retry: float = 2.0
    """Between two tries, to get the lease or to renew it; up to a fifth more, by chance."""

    def __post_init__(self) -> None:
        if not (0 < self.retry * 1.2 < self.renewal < self.duration):
            raise ValueError(f"{self}: a try must fit into the renewal, and the renewal into the duration")

    @property
    def call(self) -> float:
        """The limit of one call, so that a second one fits into the renewal."""
        return self.renewal / 2


class Record(msgspec.Struct, frozen=True, rename="camel"):
    """The part of a Lease that an election is about."""

    holder_identity: str | None = None
    lease_duration_seconds: int | None = None
    acquire_time: str | None = None
    renew_time: str | None = None
    lease_transitions: int | None = None


def boot_clock() -> float:
    """Seconds since the machine started, those asleep included."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def unique_identity(name: str) -> str:
    """A name for this process: a pod's name alone would also be that of its container's predecessor."""
    return f"{name}_{secrets.token_hex(4)}"


class Election:
    """One candidate for one Lease."""

    def __init__(
        self,
        client: LeaseCalls,
        *,
        namespace: str,
        name: str,
        identity: str,
        times: Times | None = None,
        clock: Callable[[], float] = boot_clock,
        uniform: Uniform = random.uniform,
    ) -> None:
        self.identity = identity
        self.times = times or Times()
        self._client = client
        self._namespace, self._name = namespace, name
        self._clock = clock
        self._uniform = uniform
        self._lease: Manifest = {}  # as last seen or written, with the version that the next write builds on
        self._seen: Record | None = None
        self._seen_at = 0.0
        self._renewed: float | None = None

    @property
    def holder(self) -> str:
        """Who has the lease, as far as seen; empty if nobody."""
        return (self._seen.holder_identity or "") if self._seen else ""

    def still_ours(self, margin: float = 0.0) -> bool:
        """Whether nobody else can have the lease now, nor for `margin` seconds to come."""
        return self._renewed is not None and self._clock() - self._renewed < self.times.duration - margin

    async def lead(self, work: Callable[[], Coroutine[Any, Any, R]]) -> R:
        """Waits for the lease, then does the work while it lasts; the lease is given back when the work has ended."""
        await self._acquire()
        log.info("%s has the lease %s/%s", self.identity, self._namespace, self._name)
        working = asyncio.create_task(work(), name="work of the leader")
        renewing = asyncio.create_task(self._keep(), name="renewal of the lease")
        try:
            await asyncio.wait({working, renewing}, return_when=asyncio.FIRST_COMPLETED)
            if renewing.done():
                raise LeaseLostError(f"the lease {self._namespace}/{self._name} is lost: {renewing.result()}")
            return await working
        finally:
            await self._end(working, renewing)

    async def _end(self, working: asyncio.Task[R], renewing: asyncio.Task[str]) -> None:
        """The work ends before the lease does: a successor must not begin beside it."""
        working.cancel()
        if not renewing.done():
            await asyncio.wait({working, renewing}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            await asyncio.wait({working}, timeout=self.times.duration - self.times.renewal)
        renewing.cancel()
        await asyncio.wait({renewing})
        # Before it is given back: the next holder may begin before the answer is here.
        ours, self._renewed = self._renewed is not None, None
        if not working.done():
            log.error("The work goes on although it was cancelled, so the lease is left to expire")
        elif ours:
            await self._release()
        if working.done() and not working.cancelled() and (error := working.exception()):
            log.warning("The leader's work ended with %r", error)

    async def _acquire(self) -> None:
        while True:
            try:
                if await self._try():
                    return
            except (ConflictError, AlreadyExistsError):
                pass  # another was faster, or touched it; the next look tells
            except KubeError as error:
                log.warning("The lease %s/%s could not be asked for: %s", self._namespace, self._name, error)
            await asyncio.sleep(self._pause())

    async def _try(self) -> bool:
        """Takes the lease if nobody has it."""
        await self._look()
        if self._seen is not None and self._seen.holder_identity not in (None, "", self.identity):
            duration = self._seen.lease_duration_seconds or self.times.duration
            if self._clock() - self._seen_at < duration:
                return False
            log.info("%s did not renew its lease for %d s", self.holder, duration)
        await self._write()
        return True

    async def _keep(self) -> str:
        """Renews until that is no longer possible, and says why."""
        while (left := self._time_left()) > 0:
            await asyncio.sleep(min(left, self._pause()))
            try:
                async with asyncio.timeout(max(0.0, self._time_left())):
                    await self._renew()
            except LeaseLostError as error:
                return str(error)
            except (KubeError, TimeoutError) as error:
                log.warning("The lease could not be renewed: %s", str(error) or "no answer in time")
        return f"it could not be renewed within {self.times.renewal:.1f} s"

    def _time_left(self) -> float:
        return 0.0 if self._renewed is None else self._renewed + self.times.renewal - self._clock()

    async def _renew(self) -> None:
        try:
            await self._write()
        except (ConflictError, AlreadyExistsError, NotFoundError):
            # Somebody wrote: a rival, a person, or we ourselves by a call whose answer was lost.
            await self._look()
            if self.holder not in ("", self.identity):
                self._renewed = None
                raise LeaseLostError(f"it is held by {self.holder} now") from None
            await self._write()

    async def _look(self) -> None:
        try:
            lease = await self._client.get(LEASES, self._name, namespace=self._namespace, deadline=self.times.call)
        except NotFoundError:
            self._lease, self._seen = {}, None
            return
        self._remember(lease)

    def _remember(self, lease: Manifest) -> None:
        record = msgspec.convert(lease.get("spec") or {}, Record)
        if record != self._seen:
            self._seen, self._seen_at = record, self._clock()
        self._lease = lease

    async def _write(self) -> None:
        """Creates or renews the lease in our name; the server refuses if it changed since we looked."""
        begun = self._clock()
        self._remember(await self._put(self._renewal()))
        self._renewed = begun

    async def _put(self, record: Record) -> Manifest:
        spec = {**(self._lease.get("spec") or {}), **msgspec.to_builtins(record)}
        metadata = self._lease.get("metadata") or {"name": self._name, "namespace": self._namespace}
        lease = {**self._lease, "metadata": metadata, "spec": spec}
        if self._lease:
            return await self._client.update(LEASES, lease, deadline=self.times.call)
        return await self._client.create(LEASES, lease, deadline=self.times.call)

    def _renewal(self) -> Record:
        now = datetime.now(UTC).strftime(MICROSECONDS)
        old = self._seen or Record(lease_transitions=-1)
        ours = old.holder_identity == self.identity
        return Record(
            holder_identity=self.identity,
            lease_duration_seconds=self.times.duration,
            acquire_time=old.acquire_time if ours else now,
            renew_time=now,
            lease_transitions=(old.lease_transitions or 0) + (0 if ours else 1),
        )

    async def _release(self) -> None:
        """Names nobody as the holder, so that a successor need not wait."""
        try:
            try:
                await self._free()
            except ConflictError:
                # A renewal that was cancelled on its way may have had its effect.
                await self._look()
                if self.holder == self.identity:
                    await self._free()
        except KubeError as error:
            log.warning("The lease could not be given back, it expires within %d s: %s", self.times.duration, error)

    async def _free(self) -> None:
        now = datetime.now(UTC).strftime(MICROSECONDS)
        await self._put(msgspec.structs.replace(self._seen or Record(), holder_identity="", renew_time=now))

    def _pause(self) -> float:
        return self.times.retry * self._uniform(1.0, 1.2)
