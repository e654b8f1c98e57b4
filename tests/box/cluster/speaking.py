"""A client of one etcd cluster as a process of its own: reads a request per line, answers with one line.

It is started inside the box's network, where members are reached. A process, because gRPC's threads stay in the network
they were born in. `python -m tests.box.cluster.speaking`; the first line says how the cluster is reached.

The cluster is called through its client service, as its users do. An answer that does not come is asked for on a new
connection: that is what a client with several endpoints would do.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from etcd_operator.etcd.errors import EtcdError
from etcd_operator.etcd.keys import prefix_end
from etcd_operator.etcd.line import Login, Target
from etcd_operator.etcd.member import Member
from etcd_operator.etcd.pool import Pool
from etcd_operator.etcd.tls import Tls

T = TypeVar("T")

PREFIX = b"traffic/"
CALL = 3.0  # seconds for one call
PATIENCE = 60.0  # seconds until a call that fails again and again is given up
PAGE = 2000
BETWEEN_WRITES = 0.02
LONGEST_LINE = 4 * 1024 * 1024


@dataclass
class Traffic:
    """Writes one after another, and what became of them."""

    acknowledged: list[int] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    gaps: list[float] = field(default_factory=list)  # seconds between two acknowledged writes, the longest ones


class Cluster:
    """Reached by one address; `door` is the name in the certificates for it."""

    def __init__(self, address: str, *, door: str | None, tls: Tls | None, login: Login | None) -> None:
        self._address = address
        self._door = door
        self._tls = tls
        self.login = login
        self._pool = Pool()

    def member(self, address: str = "", *, host: str | None = None) -> Member:
        """One of them by its own address, or whoever the service chooses."""
        authority = (host if address else self._door) if self._tls else None
        return self._pool.member(Target(address or self._address, authority), tls=self._tls, login=self.login)

    async def anew(self) -> None:
        await self._pool.close()
        self._pool = Pool()

    async def persistently(self, call: Callable[[Member], Awaitable[T]]) -> T:
        end = time.monotonic() + PATIENCE
        while True:
            try:
                return await call(self.member())
            except EtcdError:
                if time.monotonic() > end:
                    raise
                await self.anew()
                await asyncio.sleep(0.1)


class Conversation:
    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._traffic = Traffic()
        self._writing: asyncio.Task[None] | None = None

    async def answer(self, request: dict[str, Any]) -> object:
        answers: dict[str, Callable[..., Awaitable[object]]] = {
            "put": self.put,
            "get": self.get,
            "members": self.members,
            "status": self.status,
            "add": self.add,
            "remove": self.remove,
            "secure": self.secure,
            "begin": self.begin,
            "end": self.end,
        }
        return await answers[request.pop("do")](**request)

    async def put(self, *, key: str, value: str) -> None:
        await self._cluster.persistently(lambda member: member.put(key.encode(), value.encode(), deadline=CALL))

    async def get(self, *, key: str) -> str | None:
        found = await self._cluster.persistently(lambda member: member.range(key.encode(), deadline=CALL))
        return found.items[0].value.decode() if found.items else None

    async def members(self) -> list[dict[str, object]]:
        """After a linearizable read, as the list is not linearizable in every version."""
        await self.get(key="members")
        listed = await self._cluster.persistently(lambda member: member.member_list(deadline=CALL))
        return [
            {"id": one.id, "name": one.name, "learner": one.is_learner, "urls": list(one.peer_urls)}
            for one in listed.members
        ]

    async def status(self, *, address: str, host: str) -> dict[str, object]:
        status = await self._cluster.member(address, host=host).status(deadline=CALL)
        return {"version": status.version, "leads": status.leads, "term": status.raft_term, "size": status.db_size}

    async def add(self, *, url: str, learner: bool) -> int:
        added = await self._cluster.persistently(lambda member: member.member_add([url], learner=learner))
        return added.member.id

    async def remove(self, *, id: int) -> None:  # noqa: A002
        await self._cluster.persistently(lambda member: member.member_remove(id))

    async def secure(self, *, password: str) -> None:
        """Authentication on, with a root user; from now on calls are made as that user."""
        cluster = self._cluster
        await cluster.persistently(lambda member: member.user_add("root", password))
        await cluster.persistently(lambda member: member.role_add("root"))
        await cluster.persistently(lambda member: member.user_grant("root", "root"))
        await cluster.persistently(lambda member: member.auth_enable())
        cluster.login = Login("root", password)

    async def begin(self) -> None:
        self._traffic = Traffic()
        self._writing = asyncio.create_task(self._write())

    async def end(self) -> dict[str, object]:
        """How the writes went; those that were acknowledged and are not there any more are lost."""
        assert self._writing is not None
        self._writing.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._writing
        there = await self._written()
        traffic = self._traffic
        return {
            "acknowledged": len(traffic.acknowledged),
            "lost": [number for number in traffic.acknowledged if there.get(number) != str(number)],
            "errors": traffic.errors,
            "longest": max(traffic.gaps, default=0.0),
        }

    async def _write(self) -> None:
        number, last = 0, time.monotonic()
        while True:
            key = PREFIX + f"{number:08}".encode()
            try:
                await self._cluster.member().put(key, str(number).encode(), deadline=CALL)
            except EtcdError as error:
                self._traffic.errors.append(f"{type(error).__name__}: {error}")
                await self._cluster.anew()
            else:
                self._traffic.acknowledged.append(number)
                now = time.monotonic()
                self._traffic.gaps.append(now - last)
                last = now
            number += 1
            await asyncio.sleep(BETWEEN_WRITES)

    async def _written(self) -> dict[int, str]:
        found: dict[int, str] = {}
        key, end = PREFIX, prefix_end(PREFIX)
        while True:
            start = key
            page = await self._cluster.persistently(
                lambda member, start=start: member.range(start, range_end=end, limit=PAGE, deadline=CALL)  # type: ignore[misc]
            )
            found |= {int(item.key.removeprefix(PREFIX)): item.value.decode() for item in page.items}
            if not page.more:
                return found
            key = page.items[-1].key + b"\0"


def cluster_of(way: dict[str, Any]) -> Cluster:
    tls, login = way.get("tls"), way.get("login")
    return Cluster(
        way["address"],
        door=way.get("door"),
        tls=Tls(**{name: text.encode() for name, text in tls.items()}) if tls else None,
        login=Login(*login) if login else None,
    )


async def main() -> None:
    lines = asyncio.StreamReader(limit=LONGEST_LINE)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    conversation = Conversation(cluster_of(json.loads(await lines.readline())))
    while line := await lines.readline():
        try:
            said: dict[str, object] = {"said": await conversation.answer(json.loads(line))}
        except EtcdError as error:
            said = {"failed": f"{type(error).__name__}: {error}"}
        print(json.dumps(said), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
