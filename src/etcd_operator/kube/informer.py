"""Keeps a store equal to what the API server has, and tells of every difference.

One list, in pages, then a watch from the list's version on. Watches end all the time: the server closes them after a
while by design, restarts, forgets old versions (410), or goes silent behind a dead connection that no packet ends. All
of these are normal here: the watch is opened again from the last version heard of, or the list is taken again and
compared with the store, so that what was deleted meanwhile is seen. An informer never gives up.

Objects come as raw JSON and are decoded one by one. One that cannot be decoded hurts no other: it is named in
`unreadable`, and what the store last knew of it stays.

Subscribers are plain functions that must not take long, such as one that wakes a loop; nothing is queued for them, so
a slow one cannot make the informer fall behind without bound.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Generic, NoReturn, Protocol

import msgspec

from etcd_operator.kube.answers import Page
from etcd_operator.kube.backoff import Backoff, Uniform
from etcd_operator.kube.errors import ApiError, GoneError, KubeError, UnreachableError
from etcd_operator.kube.objects import Metadata, PartialObject
from etcd_operator.kube.requests import Selection
from etcd_operator.kube.resources import Resource
from etcd_operator.kube.store import Difference, Key, Store, T, key_of
from etcd_operator.kube.transport import CALL_SECONDS
from etcd_operator.kube.watch import Change, ChangeKind

log = logging.getLogger(__name__)

Subscriber = Callable[[Difference[T]], None]

_ANSWERED_TRIES = 3  # refused watches in a row before the version itself is suspected
_LONGEST_REST = 60.0  # seconds, however long the server asks for: a proxy in front of it may say an hour
_SHORTEST_WATCH = 1.0  # seconds; one that ends sooner without a word counts as failed


class Source(Protocol):
    """What an informer needs of a Kubernetes client."""

    def pages(
        self,
        resource: Resource,
        /,
        *,
        namespace: str | None,
        into: type[msgspec.Raw],
        selector: str,
        field_selector: str,
        page: int,
        deadline: float,
    ) -> AsyncGenerator[Page[msgspec.Raw], None]: ...

    def watch(  # noqa: PLR0913 - the client's own signature
        self,
        resource: Resource,
        /,
        *,
        resource_version: str,
        timeout_seconds: int,
        silence: float,
        namespace: str | None,
        into: type[msgspec.Raw],
        selector: str,
        field_selector: str,
    ) -> AsyncGenerator[Change[msgspec.Raw], None]: ...


class Patience(msgspec.Struct, frozen=True):
    """How an informer goes about it; times in seconds."""

    page: int = 500
    page_deadline: float = 30.0
    shortest_watch: int = 300
    longest_watch: int = 600
    """What the server is asked for lies between the two by chance, so that not all watches end at once."""

    silence: float = 75.0
    """Bookmarks come about once a minute, so this long without a byte means that nobody is there."""

    backoff: Backoff = Backoff(first=0.5, cap=10.0)


class Unreadable(msgspec.Struct, frozen=True):
    """An object that does not have the shape asked for, and what is wrong with it."""

    metadata: Metadata
    problem: str


class Informer(Generic[T]):
    """The objects of one selection, each decoded into one type."""

    def __init__(
        self,
        client: Source,
        selection: Selection,
        *,
        into: type[T],
        patience: Patience | None = None,
        uniform: Uniform = random.uniform,
    ) -> None:
        self.selection = selection
        self.store: Store[T] = Store()
        self.unreadable: dict[Key, Unreadable] = {}
        self.synced = asyncio.Event()
        self.lists_begun = 0
        self.listed = 0
        """The number of the last list that was completed, as counted by `lists_begun`."""

        self._client = client
        self._decoder = msgspec.json.Decoder(into)
        self._partial = msgspec.json.Decoder(PartialObject)
        self._patience = patience or Patience()
        self._uniform = uniform
        self._subscribers: list[Subscriber[T]] = []
        self._waiters: set[asyncio.Future[None]] = set()
        self._list_wanted = True
        self._watching: asyncio.Task[None] | None = None
        self._watched_since: float | None = None
        self._failures = 0
        self._trouble: str | None = None

    @property
    def name(self) -> str:
        return self.selection.path

    @property
    def trouble(self) -> str | None:
        """Why nothing is heard; None if all is well.

        The server does not greet: that a watch is open shows in that its beginning did not fail in time.
        """
        return None if self._lasted() > CALL_SECONDS else self._trouble

    def subscribe(self, subscriber: Subscriber[T]) -> Callable[[], None]:
        """Tells of all objects as if they had just come, then of every difference; the result ends that."""
        self._subscribers.append(subscriber)
        for obj in list(self.store):
            self._tell(subscriber, Difference(None, obj))
        return lambda: self._subscribers.remove(subscriber)

    def refresh(self) -> None:
        """Asks for a list that begins after this moment; a list under way is completed first."""
        self._list_wanted = True
        if self._watching is not None:
            self._watching.cancel()

    async def until(self, claim: Callable[[], bool]) -> None:
        """Returns when a claim about the store holds; it is looked at again after every news."""
        while not claim():
            waiter = asyncio.get_running_loop().create_future()
            self._waiters.add(waiter)
            try:
                await waiter
            finally:
                self._waiters.discard(waiter)

    async def run(self) -> NoReturn:
        """Lists and watches until cancelled."""
        while True:
            try:
                await self._follow()
                pause = self._ended()
            except KubeError as error:
                pause = self._failed(error)
            except Exception as error:
                log.exception("The informer of %s has a defect", self.name)
                self._list_wanted = True
                pause = self._failed(error)
            await asyncio.sleep(pause)

    async def _follow(self) -> None:
        self._watched_since = None
        while self._list_wanted:
            self._list_wanted = False
            try:
                await self._list()
            except BaseException:
                self._list_wanted = True
                raise
        # A task of its own, which `refresh` can cancel without cancelling the informer.
        self._watching = asyncio.create_task(self._watch(), name=f"watch of {self.name}")
        try:
            await asyncio.wait({self._watching})
        finally:
            watching, self._watching = self._watching, None
            watching.cancel()
            await asyncio.wait({watching})
        if not watching.cancelled():
            watching.result()

    async def _list(self) -> None:
        self.lists_begun += 1
        objects: list[T] = []
        unreadable: dict[Key, Unreadable] = {}
        version = ""
        pages = self._client.pages(
            self.selection.resource,
            namespace=self.selection.namespace,
            into=msgspec.Raw,
            selector=self.selection.labels,
            field_selector=self.selection.fields,
            page=self._patience.page,
            deadline=self._patience.page_deadline,
        )
        async with aclosing(pages):
            async for page in pages:
                version = page.resource_version
                for raw in page.items:
                    obj = self._decoded(raw)
                    if isinstance(obj, Unreadable):
                        unreadable[key_of(obj)] = obj
                    else:
                        objects.append(self._same_as_known(obj))
        kept = [key for key, obj in unreadable.items() if self._knows(obj)]
        differences = self.store.replace(objects, kept=kept)
        self.unreadable = unreadable
        self.listed = self.lists_begun
        self.synced.set()
        self._reached(version, differences)

    async def _watch(self) -> None:
        self._watched_since = asyncio.get_running_loop().time()
        changes = self._client.watch(
            self.selection.resource,
            resource_version=self.store.version,
            timeout_seconds=round(self._uniform(self._patience.shortest_watch, self._patience.longest_watch)),
            silence=self._patience.silence,
            namespace=self.selection.namespace,
            into=msgspec.Raw,
            selector=self.selection.labels,
            field_selector=self.selection.fields,
        )
        async with aclosing(changes):
            async for change in changes:
                self._note(change)

    def _note(self, change: Change[msgspec.Raw]) -> None:
        self._failures = 0
        if change.kind in (ChangeKind.BOOKMARK, ChangeKind.DELETED):
            partial = self._partial.decode(change.object)
            gone = change.kind is ChangeKind.DELETED
            if gone:
                self.unreadable.pop(key_of(partial), None)
            return self._reached(partial.metadata.resource_version, self.store.drop(partial) if gone else [])
        obj = self._decoded(change.object)
        if isinstance(obj, Unreadable):
            self.unreadable[key_of(obj)] = obj
            differences: list[Difference[T]] = []
        else:
            self.unreadable.pop(key_of(obj), None)
            differences = self.store.put(obj)
        return self._reached(obj.metadata.resource_version, differences)

    def _decoded(self, raw: msgspec.Raw) -> T | Unreadable:
        try:
            return self._decoder.decode(raw)
        except msgspec.ValidationError as problem:
            found = Unreadable(self._partial.decode(raw).metadata, str(problem))
            if self.unreadable.get(key_of(found)) != found:
                log.warning("%s of %s cannot be read: %s", key_of(found), self.name, problem)
            return found

    def _same_as_known(self, obj: T) -> T:
        """What is known already instead of an equal new one, so that a list taken again needs no memory."""
        known = self.store.get(key_of(obj))
        if known is None or known.metadata.uid != obj.metadata.uid:
            return obj
        return known if known.metadata.resource_version == obj.metadata.resource_version else obj

    def _knows(self, unreadable: Unreadable) -> bool:
        """Whether the store has the same object as it was when it could be read."""
        known = self.store.get(key_of(unreadable))
        return known is not None and known.metadata.uid == unreadable.metadata.uid

    def _reached(self, version: str, differences: list[Difference[T]]) -> None:
        self.store.version = version
        if self._trouble is not None:
            log.info("%s is heard of again", self.name)
            self._trouble = None
        for difference in differences:
            for subscriber in tuple(self._subscribers):
                self._tell(subscriber, difference)
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(None)

    def _tell(self, subscriber: Subscriber[T], difference: Difference[T]) -> None:
        try:
            subscriber(difference)
        except Exception:
            log.exception("A subscriber of %s failed at %s", self.name, difference.key)

    def _ended(self) -> float:
        """The watch ended as it should, or was told to: how long to wait before the next."""
        lasted, self._watched_since = self._lasted(), None
        if self._list_wanted or lasted > _SHORTEST_WATCH:
            self._failures = 0
            return 0.0
        self._failures += 1
        return self._patience.backoff.delay(self._failures, self._uniform)

    def _failed(self, error: Exception) -> float:
        """Decides whether to list again, and how long to wait before."""
        lasted, self._watched_since = self._lasted(), None
        if lasted > self._patience.backoff.cap:
            self._failures = 0
        first = self._failures == 0
        self._failures += 1
        if isinstance(error, GoneError):
            log.info("%s: the version heard of last is no longer kept, so the list is taken again", self.name)
            self._list_wanted = True
            return 0.0 if first else self._patience.backoff.delay(self._failures, self._uniform)
        if not isinstance(error, UnreachableError) and self._failures >= _ANSWERED_TRIES:
            # Such as "too large resource version" of a server whose own data was restored from a backup.
            self._list_wanted = True
        if self._trouble != str(error):
            log.warning("%s is not heard of: %s", self.name, error)
        self._trouble = str(error)
        delay = self._patience.backoff.delay(self._failures, self._uniform)
        asked = (error.retry_after or 0.0) if isinstance(error, ApiError) else 0.0
        return max(delay, min(asked, _LONGEST_REST))

    def _lasted(self) -> float:
        """How long the present watch has been there, or the one that has just ended was."""
        now = asyncio.get_running_loop().time()
        return 0.0 if self._watched_since is None else now - self._watched_since
