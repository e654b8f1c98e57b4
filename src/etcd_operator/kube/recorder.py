"""Posts events in the background: whoever records one never waits and never fails for it.

An event is worth less than the work that it tells of. So there are limits: the same event within a while only counts up
a series, and that not too often; an object that would get too many different ones loses some; while the API server is
away events are kept and tried again, up to a limit in number and tries. What is lost is counted.

The name of an event is decided before the first try. So the try after a lost answer finds the name taken, instead of
posting the event twice.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Protocol, Self

import msgspec

from etcd_operator.kube.backoff import Backoff, Uniform
from etcd_operator.kube.budget import Budget
from etcd_operator.kube.errors import (
    AlreadyExistsError,
    NotFoundError,
    ServerError,
    TooManyRequestsError,
    UnreachableError,
)
from etcd_operator.kube.events import Event, EventType, Reference, Reporter, Series, event
from etcd_operator.kube.objects import Manifest
from etcd_operator.kube.requests import PatchKind
from etcd_operator.kube.resources import EVENTS, Resource

log = logging.getLogger(__name__)

_PASSING = (UnreachableError, ServerError, TooManyRequestsError)


class Limits(msgspec.Struct, frozen=True):
    """How much is posted; times in seconds."""

    window: float = 600.0
    """A repetition within this time after the last one belongs to the same series."""

    spacing: float = 30.0
    """A series is brought up to date at most this often."""

    burst: int = 25
    every: float = 60.0
    """Different events of one object: so many at once, and one more each so many seconds."""

    series: int = 2000
    """Remembered at a time, over all objects; the one that was quiet the longest is forgotten first."""

    tries: int = 8
    backoff: Backoff = Backoff(first=0.5, cap=30.0)
    deadline: float = 5.0
    """For one call, and for what is left to post at the end."""


class EventCalls(Protocol):
    """What a recorder needs of a Kubernetes client."""

    async def create(self, resource: Resource, manifest: Manifest, /, *, deadline: float) -> object: ...

    async def patch(
        self,
        resource: Resource,
        name: str,
        patch: Mapping[str, Any],
        /,
        *,
        kind: PatchKind,
        namespace: str,
        deadline: float,
    ) -> object: ...


class Counts:
    """What became of the events that were recorded."""

    def __init__(self) -> None:
        self.recorded = 0
        self.created = 0
        self.patched = 0
        self.dropped = 0  # too many of one object, or of all, or too late
        self.failed = 0  # refused by the server, or tried too often


class Recorder:
    """Posts in the name of one program; an async context manager, whose end posts what is left."""

    def __init__(
        self,
        client: EventCalls,
        reporter: Reporter,
        *,
        limits: Limits | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        uniform: Uniform = random.uniform,
    ) -> None:
        self.counts = Counts()
        self._client = client
        self._reporter = reporter
        self._limits = limits or Limits()
        self._now = now
        self._uniform = uniform
        self._series: OrderedDict[Event, Series] = OrderedDict()
        self._budgets: OrderedDict[Reference, Budget] = OrderedDict()
        self._pending: dict[Event, Series] = {}
        self._news = asyncio.Event()
        self._posting: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._posting = asyncio.create_task(self._post_for_ever(), name="posting of events")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._posting is not None:
            self._posting.cancel()
            await asyncio.wait({self._posting})
        with suppress(TimeoutError):
            async with asyncio.timeout(self._limits.deadline):
                for series in list(self._pending.values()):
                    await self._post(series)
        if self._pending:
            self.counts.dropped += len(self._pending)
            log.warning("%d events could not be posted before the end", len(self._pending))

    def record(
        self,
        regarding: Reference,
        *,
        reason: str,
        note: str,
        action: str = "",
        type: EventType = EventType.NORMAL,  # noqa: A002 - as Kubernetes calls it
    ) -> None:
        """Something happened to an object; the event is posted in the background."""
        what = event(regarding, reason=reason, note=note, type=type, action=action)
        clock = asyncio.get_running_loop().time()
        self.counts.recorded += 1
        series = self._repeated(what, clock) or self._begun(what, clock)
        if series is None:
            self.counts.dropped += 1
            log.debug("One event too many of %s: %s", regarding.name, reason)
            return
        self._pending[what] = series
        self._news.set()

    def _repeated(self, what: Event, clock: float) -> Series | None:
        series = self._series.get(what)
        if series is None or clock - series.seen > self._limits.window:
            return None
        series.repeat(now=clock, at=self._now())
        self._series.move_to_end(what)
        return series

    def _begun(self, what: Event, clock: float) -> Series | None:
        """A new series, if the object has not had too many, nor all together have."""
        if len(self._pending) >= self._limits.series or not self._affordable(what.regarding, clock):
            return None
        series = self._series[what] = Series(what, now=clock, at=self._now())
        self._series.move_to_end(what)
        while len(self._series) > self._limits.series:
            self._series.popitem(last=False)
        return series

    def _affordable(self, regarding: Reference, clock: float) -> bool:
        budget = self._budgets.pop(regarding, None)
        if budget is None:
            budget = Budget(per_second=1 / self._limits.every, burst=self._limits.burst)
        self._budgets[regarding] = budget
        while len(self._budgets) > self._limits.series:
            self._budgets.popitem(last=False)
        return budget.take(now=clock, at_most=0.0) is not None

    async def _post_for_ever(self) -> None:
        clock = asyncio.get_running_loop().time
        while True:
            self._news.clear()
            for series in [series for series in self._pending.values() if series.due <= clock()]:
                await self._post(series)
            next_due = min((series.due for series in self._pending.values()), default=None)
            with suppress(TimeoutError):
                async with asyncio.timeout_at(next_due):
                    await self._news.wait()

    async def _post(self, series: Series) -> None:
        """Tells the server of a series as it is now; what cannot be posted now is due again later."""
        clock = asyncio.get_running_loop().time
        count = series.count
        try:
            await self._send(series)
        except Exception as error:
            series.tries += 1
            if isinstance(error, _PASSING) and series.tries < self._limits.tries:
                series.due = clock() + self._limits.backoff.delay(series.tries, self._uniform)
                return
            self._forget(series)
            self.counts.failed += 1
            what = series.event
            log.warning("The event %s of %s was not posted: %s", what.reason, what.regarding.name, error)
            return
        series.posted, series.tries = count, 0
        series.due = clock() + self._limits.spacing
        if series.count == count and self._pending.get(series.event) is series:
            del self._pending[series.event]

    def _forget(self, series: Series) -> None:
        for known in (self._pending, self._series):
            if known.get(series.event) is series:
                del known[series.event]

    async def _send(self, series: Series) -> None:
        if series.posted:
            try:
                await self._client.patch(
                    EVENTS,
                    series.name,
                    series.change(),
                    kind=PatchKind.MERGE,
                    namespace=series.namespace,
                    deadline=self._limits.deadline,
                )
            except NotFoundError:
                series.begin_anew()  # servers keep events for an hour, unless told otherwise
            else:
                self.counts.patched += 1
                return
        with suppress(AlreadyExistsError):
            await self._client.create(EVENTS, series.manifest(self._reporter), deadline=self._limits.deadline)
        self.counts.created += 1
