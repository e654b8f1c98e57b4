"""From a port of this machine to a port inside a pod, through the API server: for people who cannot reach pods.

Each connection is a WebSocket of its own to the kubelet, in the protocol that Kubernetes calls `v4.channel.k8s.io`: the
first byte of a message tells data (0) from what went wrong (1), and the first message of each of the two repeats the
port. kubectl tunnels SPDY through a WebSocket instead; what that has and this has not is a connection of which one half
is closed. So when the local side ends its half, the other is given time to finish what it is sending, and no more.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress

import aiohttp

from etcd_operator.kube.client import Client
from etcd_operator.kube.errors import KubeError, UnreachableError
from etcd_operator.kube.requests import Request
from etcd_operator.kube.resources import PODS
from etcd_operator.kube.transport import CALL_SECONDS

PROTOCOL = "v4.channel.k8s.io"
DATA, PROBLEM = b"\0", b"\1"
NORMAL = 1000  # the code of a WebSocket that ends as it should
CHUNK = 64 * 1024
LOOPBACK = "127.0.0.1"
LINGER = 3.0  # seconds of silence that end a connection whose local half has ended


class PortForwardError(KubeError):
    """What the node says went wrong on its side, such as that nobody listens on the port."""


class Tunnel:
    """One connection to a port of a pod."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse, *, target: str) -> None:
        self._socket = socket
        self._target = target
        self._greeted: set[bytes] = set()
        self._ended = False

    async def read(self) -> bytes:
        """What came next; empty when the pod has closed the connection."""
        while not self._ended:
            message = await self._socket.receive()
            if message.type is aiohttp.WSMsgType.BINARY:
                if content := self._understood(message.data):
                    return content
            # The answer to its farewell often finds the server gone; aiohttp calls that an abnormal end, and it is not.
            elif message.type is aiohttp.WSMsgType.CLOSE and message.data == NORMAL:
                self._ended = True
            else:
                raise UnreachableError(f"{self._target}: the connection to the API server broke")
        return b""

    def _understood(self, message: bytes) -> bytes:
        channel, content = message[:1], message[1:]
        if channel not in self._greeted:
            self._greeted.add(channel)
            return b""
        if channel == PROBLEM:
            raise PortForwardError(f"{self._target}: {content.decode(errors='replace').strip()}")
        return content

    async def write(self, content: bytes) -> None:
        try:
            for begin in range(0, len(content), CHUNK):
                await self._socket.send_bytes(DATA + content[begin : begin + CHUNK])
        except (ConnectionError, aiohttp.ClientError) as error:
            raise UnreachableError(f"{self._target}: the connection to the API server broke") from error


@asynccontextmanager
async def tunnel(
    client: Client, pod: str, *, namespace: str, port: int, deadline: float = CALL_SECONDS
) -> AsyncGenerator[Tunnel, None]:
    path = PODS.path(namespace=namespace, name=pod, subresource="portforward")
    request = Request("GET", path, query=(("ports", str(port)),))
    async with client.transport.websocket(request, protocol=PROTOCOL, deadline=deadline) as socket:
        yield Tunnel(socket, target=f"port {port} of pod {namespace}/{pod}")


@asynccontextmanager
async def port_forward(
    client: Client,
    pod: str,
    *,
    namespace: str,
    port: int,
    report: Callable[[KubeError], None],
    local_port: int = 0,
) -> AsyncGenerator[int, None]:
    """Listens on a loopback port, which it gives, and forwards each connection on its own.

    A connection that fails is closed and reported; the others and those to come do not notice.
    """
    connections: dict[asyncio.Task[None], asyncio.StreamWriter] = {}

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with tunnel(client, pod, namespace=namespace, port=port) as far:
                await _join(far, reader, writer)
        except KubeError as error:
            report(error)
        finally:
            writer.close()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(serve(reader, writer))
        connections[task] = writer
        task.add_done_callback(connections.pop)

    server = await asyncio.start_server(accept, LOOPBACK, local_port)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for task, writer in list(connections.items()):
            task.cancel()
            writer.transport.abort()  # `serve` may not have begun, and then would never close it
        await asyncio.gather(*connections, return_exceptions=True)
        # `wait_closed` is not for here: since Python 3.12 it waits for connections whose peers do not read.


async def _join(far: Tunnel, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Carries both ways until the pod closes, or the local side has and nothing comes any more."""
    received = 0

    async def up() -> None:
        with suppress(ConnectionError):
            while content := await reader.read(CHUNK):
                await far.write(content)

    async def down() -> None:
        nonlocal received
        with suppress(ConnectionError):
            while content := await far.read():
                received += 1
                writer.write(content)
                await writer.drain()

    sending, receiving = asyncio.create_task(up()), asyncio.create_task(down())
    try:
        await asyncio.wait((sending, receiving), return_when=asyncio.FIRST_COMPLETED)
        seen = -1
        while not receiving.done() and seen != received:
            seen = received
            await asyncio.wait((receiving,), timeout=LINGER)
        # The pod's own words first: that nothing more can be sent to it is only what follows from them.
        (receiving if receiving.done() else sending).result()
    finally:
        for task in (sending, receiving):
            task.cancel()
        await asyncio.gather(sending, receiving, return_exceptions=True)
