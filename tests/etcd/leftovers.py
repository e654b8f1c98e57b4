"""What a call that was left early must not leave behind: threads and connections."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.etcd.expecting import eventually


def own_threads() -> int:
    """Without those that the event loop keeps for the next use."""
    return sum(not thread.name.startswith("asyncio_") for thread in threading.enumerate())


def open_sockets() -> int:
    return sum(path.is_socket() for path in Path("/proc/self/fd").iterdir())


@asynccontextmanager
async def no_leftovers() -> AsyncIterator[None]:
    threads, sockets = own_threads(), open_sockets()
    yield
    await eventually(lambda: asyncio.sleep(0, own_threads()), until=lambda count: count <= threads)
    await eventually(lambda: asyncio.sleep(0, open_sockets()), until=lambda count: count <= sockets)
