from __future__ import annotations

import asyncio
import time

from etcd_operator.web import lag


async def test_a_call_that_blocks_shows() -> None:
    told: list[float] = []

    async with lag.measured(told.append, every=0.01):
        await asyncio.sleep(0.1)
        time.sleep(0.3)  # noqa: ASYNC251 - what must not be done anywhere else
        await asyncio.sleep(0.1)

    assert max(told) > 0.2
    assert min(told) >= 0.0


async def test_it_ends_with_its_block() -> None:
    told: list[float] = []
    async with lag.measured(told.append, every=0.001):
        await asyncio.sleep(0.02)
    count = len(told)

    await asyncio.sleep(0.02)

    assert 0 < count == len(told)
