from __future__ import annotations

import asyncio

from etcd_operator.cluster.crowd import Crowd


async def test_only_so_many_are_asked_at_a_time_and_all_get_their_turn() -> None:
    crowd, at_work, most = Crowd(at_once=3), 0, 0

    async def ask() -> None:
        nonlocal at_work, most
        async with crowd.place(silent=False):
            at_work += 1
            most = max(most, at_work)
            await asyncio.sleep(0)
            at_work -= 1

    await asyncio.gather(*(ask() for _ in range(50)))

    assert (most, at_work) == (3, 0)


async def test_those_that_are_silent_keep_nobody_waiting_who_answers() -> None:
    crowd, over = Crowd(at_once=2), asyncio.Event()

    async def hang() -> None:
        async with crowd.place(silent=True):
            await over.wait()

    hanging = [asyncio.create_task(hang()) for _ in range(10)]
    await asyncio.sleep(0)
    async with asyncio.timeout(30), crowd.place(silent=False):
        pass

    over.set()
    await asyncio.gather(*hanging)
