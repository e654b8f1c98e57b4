"""One number out of a member's metrics, which gRPC does not tell: how often it has saved a raft snapshot.

The page has some thousand lines; it is read as it comes, and no further than to the line that was looked for.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import aiohttp

from etcd_operator.etcd.errors import EtcdError, NoAnswerError, NotReachedError, Reason

RAFT_SNAPSHOTS = "etcd_debugging_snap_save_total_duration_seconds_count"
LARGEST = 8 * 1024 * 1024  # bytes


class MetricsPages:
    """Of any number of members; one session, made when the first page is asked for."""

    def __init__(self) -> None:
        self._session: aiohttp.ClientSession | None = None

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()

    async def raft_snapshots(self, address: str, *, deadline: float) -> int:
        """Saved since the member's process started; `address` is that of its metrics listener, which has no TLS."""
        return int(await self.value(address, RAFT_SNAPSHOTS, deadline=deadline))

    async def value(self, address: str, name: str, *, deadline: float) -> float:
        """Of a metric without labels."""
        if self._session is None:
            self._session = aiohttp.ClientSession()
        what = f"GET http://{address}/metrics"
        try:
            async with asyncio.timeout(deadline), self._session.get(f"http://{address}/metrics") as answer:
                if answer.status != 200:
                    raise NoAnswerError(f"{what}: answered with {answer.status}")
                found = await number_in(answer.content.iter_any(), name.encode())
        except TimeoutError:
            raise NoAnswerError(f"{what}: no answer within {deadline:g} s", Reason.NO_ANSWER) from None
        except aiohttp.ClientConnectorError as error:
            raise NotReachedError(f"{what}: {error}") from None
        except aiohttp.ClientError as error:
            raise NoAnswerError(f"{what}: {error}", Reason.NO_ANSWER) from None
        if found is None:
            raise EtcdError(f"{what}: there is no {name}")
        return found


async def number_in(chunks: AsyncIterator[bytes], name: bytes) -> float | None:
    rest, seen = b"", 0
    async for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            metric, _, number = line.partition(b" ")
            if metric == name:
                return float(number)
        seen += len(chunk)
        if seen > LARGEST:
            break
    return None
