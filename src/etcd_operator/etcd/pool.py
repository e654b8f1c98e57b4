"""The channels that are open, a bounded number of them.

A channel with TLS costs about 100 KiB which the process does not give back, so an operator with a thousand clusters
cannot keep one per member; and dialling anew costs 2 ms, so it need not. The least recently used one that nobody uses
is closed for the next; if all are in use, the next caller waits, within its own deadline.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Self

from etcd_operator.etcd.capabilities import read_version
from etcd_operator.etcd.errors import NotReachedError
from etcd_operator.etcd.line import Line, LineKey, Login, Target
from etcd_operator.etcd.member import Member
from etcd_operator.etcd.tls import Tls

LIMIT = 256


class Pool:
    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self._lines: OrderedDict[LineKey, Line] = OrderedDict()
        self._given_back = asyncio.Event()
        self._closed = False

    def __len__(self) -> int:
        return len(self._lines)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def member(
        self,
        target: Target,
        *,
        tls: Tls | None = None,
        login: Login | None = None,
        version: str | None = None,
    ) -> Member:
        """A member to call. Nothing is dialled before the first call; the value can be kept or thrown away.

        Its version is asked for when a call depends on it, unless it is given.
        """
        known = read_version(version) if version else None
        return Member(self, target, tls=tls, login=login, version=known)

    @asynccontextmanager
    async def line(self, target: Target, tls: Tls | None, *, until: float) -> AsyncIterator[Line]:
        """The channel to a member, not to be closed by anybody meanwhile."""
        key = LineKey(target.dialled, target.authority, tls.fingerprint if tls else None)
        line = await self._take(key, target, tls, until=until)
        try:
            yield line
        finally:
            line.users -= 1
            self._given_back.set()

    async def close(self) -> None:
        """Close all channels; calls that are still under way fail. A snapshot has a channel of its own, and goes on."""
        self._closed = True
        self._given_back.set()  # whoever waits for a channel need not any more
        lines = list(self._lines.values())
        self._lines.clear()
        for line in lines:
            await line.channel.close()

    async def _take(self, key: LineKey, target: Target, tls: Tls | None, *, until: float) -> Line:
        dismissed: list[Line] = []
        try:
            async with asyncio.timeout_at(until):
                while (line := self._find(key, target, tls, dismissed)) is None:
                    self._given_back.clear()
                    await self._given_back.wait()
        except TimeoutError:
            raise NotReachedError(
                f"{target} was not called: all {self._limit} channels of the pool stayed in use"
            ) from None
        finally:
            for old in dismissed:
                await old.channel.close()
        return line

    def _find(self, key: LineKey, target: Target, tls: Tls | None, dismissed: list[Line]) -> Line | None:
        """Without a pause in it, so that two callers never make two lines for one key. None: no room now."""
        if self._closed:
            raise NotReachedError(f"{target} was not called: the pool is closed")
        line = self._lines.get(key)
        if line and line.broken and not line.users:
            dismissed.append(self._lines.pop(key))
            line = None
        if line is None:
            if len(self._lines) >= self._limit:
                unused = next((other for other, held in self._lines.items() if not held.users), None)
                if unused is None:
                    return None
                dismissed.append(self._lines.pop(unused))
            line = self._lines[key] = Line(target, tls)
        self._lines.move_to_end(key)
        line.users += 1
        return line
