"""What loops have before them, for whoever watches over them."""

from __future__ import annotations

import asyncio

from etcd_operator.kube.backoff import Backoff
from etcd_operator.kube.loops import Backlog, Loops, Rest
from tests.unit.kube.virtual_time import in_virtual_time, longest


def test_at_rest_there_is_none() -> None:
    async def story() -> None:
        async def body(_: str) -> Rest:
            return None

        async with Loops(body) as loops:
            loops.wake("a")
            await asyncio.sleep(100)
            assert loops.backlog() == Backlog()
            assert len(loops) == 1

    in_virtual_time(story())


def test_turns_under_way_and_wakes_that_wait_are_counted_with_their_ages() -> None:
    async def story() -> None:
        async def body(_: str) -> Rest:
            await asyncio.sleep(100)
            return None

        async with Loops(body) as loops:
            loops.wake("a")
            await asyncio.sleep(10)
            loops.wake("b")
            loops.wake("a")
            await asyncio.sleep(20)
            assert loops.backlog() == Backlog(waiting=1, oldest=20, running=2, longest=30)

    in_virtual_time(story())


def test_a_loop_that_backs_off_waits_only_if_it_was_woken() -> None:
    async def story() -> None:
        async def body(_: str) -> Rest:
            raise ValueError("no")

        backoff = Backoff(first=100.0, cap=100.0)
        async with Loops(body, backoff=backoff, report=lambda _: None, uniform=longest) as loops:
            loops.wake("a")
            await asyncio.sleep(1)
            assert loops.backlog() == Backlog()
            loops.wake("a")
            await asyncio.sleep(5)
            assert loops.backlog() == Backlog(waiting=1, oldest=5)

    in_virtual_time(story())
