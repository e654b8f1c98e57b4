"""A loop never acts on a cache that is older than its own last write.

A watch lags behind, by milliseconds as a rule and by minutes at worst. A loop that has just created a pod and looks
into a cache that does not show it yet would create a second one. So it notes what it wrote, and waits at the beginning
of its next turn until the cache has got there.

- What was written has a version, and versions of one kind of objects grow: the cache has got there when its own version
  is not a smaller one (see `store.at_least`).
- A deletion answers with no version: the object must be gone from the cache, or be marked as being deleted.
- A call whose answer was lost may have had its effect or not. Only a list that begins afterwards can tell.

A list that begins after the write shows it in any case. So if the cache has not got there after a while, the informer
is told to list again, and the wait goes on: late is repaired, stale is never used.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Protocol

import msgspec

from etcd_operator.kube.store import Key, Named, at_least

log = logging.getLogger(__name__)

PATIENCE = 15.0


class Objects(Protocol):
    """What a store tells."""

    version: str

    def get(self, key: Key, /) -> Named | None: ...


class Cache(Protocol):
    """What is needed of an informer."""

    @property
    def store(self) -> Objects: ...

    @property
    def name(self) -> str: ...

    @property
    def lists_begun(self) -> int: ...

    @property
    def listed(self) -> int: ...

    def refresh(self) -> None: ...

    async def until(self, claim: Callable[[], bool], /) -> None: ...


class _Claim(msgspec.Struct, frozen=True):
    cache: Cache
    lists_before: int
    shown: Callable[[], bool]

    def holds(self) -> bool:
        return self.cache.listed > self.lists_before or self.shown()


class Expectations:
    """What one loop has written and not seen in its caches yet."""

    def __init__(self, *, patience: float = PATIENCE) -> None:
        self._patience = patience
        self._claims: list[_Claim] = []
        self.refreshes = 0

    def written(self, cache: Cache, version: str) -> None:
        """An object was created or changed, and the answer had this resource version."""
        self._expect(cache, lambda: at_least(cache.store.version, version))

    def deleted(self, cache: Cache, key: Key, *, uid: str) -> None:
        """The deletion of an object was accepted."""

        def shown() -> bool:
            found = cache.store.get(key)
            return found is None or found.metadata.uid != uid or found.metadata.deletion_timestamp is not None

        self._expect(cache, shown)

    def unsure(self, cache: Cache) -> None:
        """A call that changes something had no answer."""
        self._expect(cache, lambda: False)
        cache.refresh()

    @property
    def pending(self) -> int:
        # In the order of the writes: what the cache does not show yet is not what is gone from it again.
        late: dict[int, Cache] = {}
        waiting = []
        for claim in self._claims:
            if id(claim.cache) in late or not claim.holds():
                late[id(claim.cache)] = claim.cache
                waiting.append(claim)
        self._claims = waiting
        return len(waiting)

    async def met(self) -> None:
        """Returns when the caches show everything that was written."""
        while self.pending:
            claim = self._claims[0]
            try:
                async with asyncio.timeout(self._patience):
                    await claim.cache.until(claim.holds)
            except TimeoutError:
                sentence = "%s has not shown our own write for %.0f s, so its list is taken again"
                log.warning(sentence, claim.cache.name, self._patience)
                self.refreshes += 1
                claim.cache.refresh()

    def _expect(self, cache: Cache, shown: Callable[[], bool]) -> None:
        self._claims.append(_Claim(cache, cache.lists_begun, shown))
