"""How late the event loop is: a call that blocks delays every cluster, and this is where it shows first."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

EVERY = 0.5


@asynccontextmanager
async def measured(tell: Callable[[float], None], *, every: float = EVERY) -> AsyncIterator[None]:
    """Tells by how many seconds a timer went off too late, again and again."""
    measuring = asyncio.create_task(_measure(tell, every), name="measurement of the event loop's lag")
    try:
        yield
    finally:
        measuring.cancel()
        await asyncio.wait({measuring})


async def _measure(tell: Callable[[float], None], every: float) -> None:
    clock = asyncio.get_running_loop().time
    while True:
        due = clock() + every
        await asyncio.sleep(every)
        tell(max(0.0, clock() - due))
