"""One control loop per object: a task that runs its body whenever something happened, and never twice at once.

A loop is told that something happened, not what: its body looks at the world and decides. So wakes need no queue: any
number of them while the body runs means one more run. Each object has a task of its own instead of a share in a pool of
workers, so a slow cluster delays nobody.

After a failure the loop waits, longer each time. A wake shortens that wait to a quarter and no further, as it may be
the echo of what the failing body itself has written. A wake `afresh`, for what somebody else did on purpose, such as a
new spec, ends the wait at once and forgets the failures.

A body that returns `GONE` has seen that its object does not exist: its task ends, and nothing of it is kept.
"""

from __future__ import annotations

import asyncio
import enum
import logging
import random
from collections.abc import Awaitable, Callable, Hashable
from types import TracebackType
from typing import Final, Generic, Literal, Self, TypeVar

import msgspec

from etcd_operator.kube.backoff import Backoff, Uniform

log = logging.getLogger(__name__)

K = TypeVar("K", bound=Hashable)


class Gone(enum.Enum):
    """What a body returns when its object is no more."""

    GONE = "gone"


GONE: Final = Gone.GONE

Rest = float | None | Literal[Gone.GONE]
"""What a body returns: seconds after which to run again if nothing happens before, None for no such limit, or GONE."""

Body = Callable[[K], Awaitable[Rest]]


class Failure(msgspec.Struct, Generic[K], frozen=True):
    """A body that raised: the how-manieth time in a row, and when it is tried again."""

    key: K
    error: Exception
    failures: int
    delay: float


def log_failure(failure: Failure[K]) -> None:
    """With its traceback: what a body expects, it turns into a status; what is left is a defect."""
    sentence = "The loop of %s failed, for the %d. time in a row; next try within %.1f s"
    log.error(sentence, failure.key, failure.failures, failure.delay, exc_info=failure.error)


class Tally:
    """What all loops of one `Loops` did since its start; times in seconds."""

    def __init__(self) -> None:
        self.turns = 0
        self.failures = 0
        self.running = 0
        self.busy = 0.0  # inside bodies
        self.waited = 0.0  # from the first wake to the body's start, back-off included


class Backlog(msgspec.Struct, frozen=True):
    """What the loops have before them at one moment; times in seconds."""

    waiting: int = 0  # woken, and not yet begun: also those that back off
    oldest: float = 0.0  # since the first of these was woken
    running: int = 0
    longest: float = 0.0  # since the first of these began


class _Line:
    """The wakes of one key."""

    __slots__ = ("afresh", "begun", "failures", "since", "task", "waiter", "waiting_for_all", "woken")

    def __init__(self) -> None:
        self.task: asyncio.Task[None] | None = None
        self.failures = 0
        self.since: float | None = None  # the first wake that no body has answered yet
        self.begun: float | None = None  # the body that runs now
        self.woken = False
        self.afresh = False
        self.waiter: asyncio.Future[None] | None = None
        self.waiting_for_all = True

    def wake(self, *, afresh: bool, now: float) -> None:
        self.woken = True
        self.afresh |= afresh
        if self.since is None:
            self.since = now
        if self.waiter is not None and not self.waiter.done() and (afresh or self.waiting_for_all):
            self.waiter.set_result(None)

    def answered(self) -> None:
        self.woken = self.afresh = False
        self.since = None

    async def wait(self, seconds: float | None, *, only_afresh: bool = False) -> None:
        """Until a wake, or so long."""
        if self.afresh or (self.woken and not only_afresh):
            return
        self.waiter = asyncio.get_running_loop().create_future()
        self.waiting_for_all = not only_afresh
        try:
            async with asyncio.timeout(seconds):
                await self.waiter
        except TimeoutError:
            pass
        finally:
            self.waiter = None


class Loops(Generic[K]):
    """The loops of one kind of objects, by key; leaving the context ends and awaits them all."""

    def __init__(
        self,
        body: Body[K],
        *,
        backoff: Backoff | None = None,
        report: Callable[[Failure[K]], None] = log_failure,
        uniform: Uniform = random.uniform,
    ) -> None:
        self._body = body
        self._backoff = backoff or Backoff()
        self._report = report
        self._uniform = uniform
        self._lines: dict[K, _Line] = {}
        self._ended = False
        self.tally = Tally()

    def __len__(self) -> int:
        return len(self._lines)

    def __contains__(self, key: K) -> bool:
        return key in self._lines

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    def wake(self, key: K, *, afresh: bool = False) -> None:
        """Something happened to the object or to what belongs to it; its loop is begun if there is none."""
        if self._ended:
            return
        line = self._lines.get(key)
        if line is None:
            line = self._lines[key] = _Line()
            line.task = asyncio.create_task(self._live(key, line), name=f"loop of {key}")
        line.wake(afresh=afresh, now=asyncio.get_running_loop().time())

    def backlog(self) -> Backlog:
        now = asyncio.get_running_loop().time()
        waiting = [line.since for line in self._lines.values() if line.since is not None]
        running = [line.begun for line in self._lines.values() if line.begun is not None]
        return Backlog(
            waiting=len(waiting),
            oldest=now - min(waiting, default=now),
            running=len(running),
            longest=now - min(running, default=now),
        )

    async def stop(self) -> None:
        """Cancels all loops and returns when the last body has ended; later wakes are ignored."""
        self._ended = True
        tasks = [line.task for line in self._lines.values() if line.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._lines.clear()

    async def _live(self, key: K, line: _Line) -> None:
        while True:
            rest = await self._turn(key, line)
            if self._ended:
                return  # also of a body that made something else of its cancellation
            if isinstance(rest, Failure):
                # Deaf to echoes for a quarter of the wait, then to nothing.
                await line.wait(rest.delay / 4, only_afresh=True)
                await line.wait(rest.delay * 3 / 4)
            elif rest is not GONE:
                await line.wait(rest)
            elif not line.woken:
                # Without an await between the look and the removal no wake can fall in between.
                del self._lines[key]
                return

    async def _turn(self, key: K, line: _Line) -> Rest | Failure[K]:
        clock = asyncio.get_running_loop().time
        begun = clock()
        self.tally.waited += begun - (begun if line.since is None else line.since)
        if line.afresh:
            line.failures = 0
        line.answered()
        line.begun = begun
        self.tally.turns += 1
        self.tally.running += 1
        try:
            rest = await self._body(key)
        except asyncio.CancelledError as error:
            if self._cancelled():
                raise
            lost = RuntimeError(f"something that the loop of {key} was waiting for was cancelled")
            lost.__cause__ = error
            return self._failed(key, line, lost)
        except Exception as error:
            return self._failed(key, line, error)
        finally:
            line.begun = None
            self.tally.running -= 1
            self.tally.busy += clock() - begun
        line.failures = 0
        return rest

    def _cancelled(self) -> bool:
        task = asyncio.current_task()
        return self._ended or (task is not None and task.cancelling() > 0)

    def _failed(self, key: K, line: _Line, error: Exception) -> Failure[K]:
        line.failures += 1
        self.tally.failures += 1
        delay = self._backoff.delay(line.failures, self._uniform)
        failure = Failure(key=key, error=error, failures=line.failures, delay=delay)
        try:
            self._report(failure)
        except Exception:
            log.exception("The failure of the loop of %s could not be reported", key)
        return failure
