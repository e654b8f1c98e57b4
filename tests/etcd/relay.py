"""A TCP relay between the client and a server, to lose or to alter what the server answers.

It makes the one case that a server alone cannot be brought to show: the request arrives and takes effect, and its
answer does not come back.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

Alteration = Callable[[bytes], bytes]
PIECE = 1 << 16


class Relay:
    def __init__(self, server: str) -> None:
        self._server = server
        self._swallowing = False
        self._left: int | None = None  # bytes of answers that may still pass
        self._alter: Alteration | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._clients: set[asyncio.StreamWriter] = set()
        self._listener: asyncio.Server | None = None
        self.address = ""
        self.connections = 0

    async def open(self) -> None:
        self._listener = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        host, port = self._listener.sockets[0].getsockname()
        self.address = f"{host}:{port}"

    async def close(self) -> None:
        if self._listener:
            self._listener.close()
        self.cut()
        await asyncio.gather(*self._tasks)

    def swallow_answers(self) -> None:
        """From now on requests arrive and answers do not."""
        self._swallowing = True

    def pass_answers(self) -> None:
        self._swallowing = False

    def cut_after(self, answered: int) -> None:
        """Ends the connection once that many more bytes of answers have passed."""
        self._left = answered

    def alter(self, alteration: Alteration) -> None:
        self._alter = alteration

    def cut(self) -> None:
        """Ends every connection as a lost one ends: by a reset."""
        for client in tuple(self._clients):
            client.transport.abort()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        task = asyncio.current_task()
        assert task
        self._tasks.add(task)
        self._clients.add(writer)
        try:
            await self._join(reader, writer)
        finally:
            self._tasks.discard(task)
            self._clients.discard(writer)

    async def _join(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        host, _, port = self._server.rpartition(":")
        try:
            server_reader, server_writer = await asyncio.open_connection(host, int(port))
        except OSError:
            writer.transport.abort()
            return
        upwards = asyncio.create_task(self._requests(reader, server_writer))
        try:
            await self._answers(server_reader, writer)
        finally:
            upwards.cancel()
            writer.transport.abort()
            server_writer.transport.abort()

    async def _requests(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while piece := await reader.read(PIECE):
                writer.write(piece)
                await writer.drain()
        writer.transport.abort()

    async def _answers(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while piece := await reader.read(PIECE):
                if self._swallowing:
                    continue
                if self._left is not None:
                    piece = piece[: self._left]
                    self._left -= len(piece)
                writer.write(self._alter(piece) if self._alter else piece)
                await writer.drain()
                if self._left == 0:
                    return


@asynccontextmanager
async def relay_to(server: str) -> AsyncIterator[Relay]:
    made = Relay(server)
    await made.open()
    try:
        yield made
    finally:
        await made.close()
