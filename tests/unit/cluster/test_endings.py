"""A step under way is brought to its end when the operator is told to stop."""

from __future__ import annotations

import asyncio

import pytest

from etcd_operator.cluster import turn


async def test_a_step_that_was_begun_ends_before_its_loop_does() -> None:
    begun, go_on, done = asyncio.Event(), asyncio.Event(), []

    async def step() -> float:
        begun.set()
        await go_on.wait()
        done.append(True)
        return 0.0

    loop = asyncio.create_task(turn.to_its_end(step(), within=30.0))
    await begun.wait()
    loop.cancel()
    await asyncio.sleep(0)
    assert not loop.done()

    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await loop
    assert done == [True]


async def test_a_step_that_does_not_end_is_given_up() -> None:
    async def step() -> float:
        await asyncio.Event().wait()
        return 0.0

    loop = asyncio.create_task(turn.to_its_end(step(), within=0.01))
    await asyncio.sleep(0)
    loop.cancel()

    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(loop, 30)


async def test_what_a_step_ends_with_comes_through() -> None:
    async def step() -> float:
        return 1.5

    async def broken() -> float:
        raise ValueError("so it is")

    assert await turn.to_its_end(step(), within=30.0) == 1.5
    with pytest.raises(ValueError, match="so it is"):
        await turn.to_its_end(broken(), within=30.0)
