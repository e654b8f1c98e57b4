"""Lets the host reach the API server: a socket on the host's loopback, answered from inside the room.

The listening socket was made on the host and inherited, so the host gets no interface, route or forwarding rule.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import sys

from box.layout import API_PORT, CONTROL_PLANE, node_address


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(1 << 16):
            writer.write(data)
            await writer.drain()
        writer.write_eof()


async def _relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        onward_reader, onward = await asyncio.open_connection(node_address(CONTROL_PLANE), API_PORT)
    except OSError:
        writer.transport.abort()  # the caller sees a reset, as from a port nobody listens on
        return
    try:
        await asyncio.gather(_pump(reader, onward), _pump(onward_reader, writer))
    finally:
        for end in (writer, onward):
            end.close()


async def _serve(descriptor: int) -> None:
    listening = socket.socket(fileno=descriptor)
    server = await asyncio.start_server(_relay, sock=listening)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(_serve(int(sys.argv[1])))
