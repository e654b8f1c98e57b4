"""A way to the API server that a test can cut, freeze and mend, for the one client that goes through it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from urllib.parse import urlsplit

from etcd_operator.kube.connection import Connection


class Relay:
    """Bytes pass as they are: TLS is between the client and the API server."""

    def __init__(self, connection: Connection) -> None:
        target = urlsplit(connection.server)
        self._host, self._port = target.hostname or "", target.port or 443
        self._original = connection
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()
        self._flows: set[asyncio.Event] = set()
        self._refusing = False
        self.lag = 0.0  # seconds that everything from the server is late

    @property
    def connection(self) -> Connection:
        assert self._server is not None
        port = self._server.sockets[0].getsockname()[1]
        return replace(self._original, server=f"https://127.0.0.1:{port}")

    def cut(self) -> None:
        """Breaks what is open, in the middle of whatever it is, and refuses what comes."""
        self._refusing = True
        self.cut_once()

    def cut_once(self) -> None:
        for writer in self._writers:
            writer.transport.abort()

    def freeze(self) -> None:
        """Nothing passes any more through what is open, and nobody is told; new connections work."""
        for flow in self._flows:
            flow.clear()

    def mend(self) -> None:
        """Lets new connections through again after a cut."""
        self._refusing = False

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)

    async def stop(self) -> None:
        assert self._server is not None
        self._server.close()
        self.cut()
        for flow in self._flows:
            flow.set()
        await self._server.wait_closed()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._refusing:
            writer.transport.abort()
            return
        there, back = await asyncio.open_connection(self._host, self._port)
        flow = asyncio.Event()
        flow.set()
        self._writers |= {writer, back}
        self._flows.add(flow)
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._pass(reader, back, flow))
                group.create_task(self._pass(there, writer, flow, late=True))
        finally:
            self._writers -= {writer, back}
            self._flows.discard(flow)

    async def _pass(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, flow: asyncio.Event, *, late: bool = False
    ) -> None:
        with suppress(OSError):
            while chunk := await reader.read(65536):
                if late:
                    await asyncio.sleep(self.lag)
                await flow.wait()
                writer.write(chunk)
                await writer.drain()
        writer.transport.abort()


@asynccontextmanager
async def relayed(connection: Connection) -> AsyncIterator[Relay]:
    relay = Relay(connection)
    await relay.start()
    try:
        yield relay
    finally:
        await relay.stop()
