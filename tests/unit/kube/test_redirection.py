"""What stands in front of an API server may send us elsewhere, to a page for people as a rule: that is no success."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from etcd_operator.kube.client import Client
from etcd_operator.kube.connection import Connection
from etcd_operator.kube.errors import ApiError
from etcd_operator.kube.resources import CONFIG_MAPS


@asynccontextmanager
async def doorkeeper() -> AsyncIterator[str]:
    """Sends everybody to another place."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 302 Found\r\nLocation: /login\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()


async def test_a_mutation_that_is_sent_elsewhere_has_not_been_done() -> None:
    async with doorkeeper() as address, Client(Connection(address), user_agent="tests") as client:
        with pytest.raises(ApiError, match="was answered with 302") as refused:
            await client.delete(CONFIG_MAPS, "a", namespace="ns")

    assert refused.value.status == 302
    assert not refused.value.may_have_happened
