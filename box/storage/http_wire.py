"""HTTP/1.1 as a proxy sees it that changes nothing: where a message's head ends, and where its body ends.

Bodies may be many GiB: they are never held, only counted while they pass. Sockets are used directly, because the
stream classes of asyncio copy every byte twice more.
"""

from __future__ import annotations

import asyncio
import fcntl
import socket
import struct
import termios
from collections.abc import AsyncIterator
from dataclasses import dataclass
from enum import Enum

PIECE = 256 << 10
LONGEST_HEAD = 64 << 10
LONGEST_CHUNK_LINE = 4096


class WireError(Exception):
    """The other side ended the connection, or what it sent is not HTTP."""


class Framing(Enum):
    """How the end of a body is known if its length is not told."""

    CHUNKED = "by its last chunk"
    UNTIL_CLOSE = "by the end of the connection"


Length = int | Framing


@dataclass(frozen=True)
class Head:
    """The first lines of a request or of an answer, as they came."""

    raw: bytes
    first: tuple[str, str, str]
    headers: dict[str, str]

    @property
    def method(self) -> str:
        return self.first[0]

    @property
    def target(self) -> str:
        return self.first[1]

    @property
    def status(self) -> int:
        return int(self.first[1])

    @property
    def chunked(self) -> bool:
        return "chunked" in self.headers.get("transfer-encoding", "").lower()

    @property
    def length(self) -> int | None:
        """Of the body, if the head tells."""
        told = self.headers.get("content-length", "")
        return int(told) if told.isdigit() and not self.chunked else None

    @property
    def closes(self) -> bool:
        """Whether the connection ends after this message."""
        wish = self.headers.get("connection", "").lower()
        old = "HTTP/1.0" in (self.first[0], self.first[2])
        return "close" in wish or (old and "keep-alive" not in wish)


def parse_head(raw: bytes) -> Head:
    lines = raw.decode("latin-1").split("\r\n")
    parts = lines[0].split(" ", 2)
    if len(parts) < 2:
        raise WireError(f"not HTTP: {lines[0][:80]!r}")
    fields = (line.partition(":") for line in lines[1:] if line)
    headers = {name.strip().lower(): value.strip() for name, _, value in fields}
    head = Head(raw=raw, first=(parts[0], parts[1], parts[2] if len(parts) > 2 else ""), headers=headers)
    if parts[0].startswith("HTTP/") and not parts[1].isdigit():
        raise WireError(f"not HTTP: {lines[0][:80]!r}")
    return head


def request_body(head: Head) -> Length:
    """Tell how long the body of a request is."""
    return Framing.CHUNKED if head.chunked else head.length or 0


def answer_body(head: Head, *, method: str) -> Length:
    """Tell how long the body of the answer to such a request is."""
    if method == "HEAD" or head.status < 200 or head.status in (204, 304):
        return 0
    if head.chunked:
        return Framing.CHUNKED
    return Framing.UNTIL_CLOSE if head.length is None else head.length


class ChunkCount:
    """Follows the chunks of a body as it passes, to know where it ends."""

    def __init__(self) -> None:
        self._data = 0  # bytes left of the present chunk and of the line end after it
        self._line = bytearray()
        self._trailer = False
        self.ended = False

    def take(self, piece: memoryview) -> int:
        """Count a piece; returns how many of its bytes belong to the body."""
        position = 0
        while position < len(piece) and not self.ended:
            if self._data:
                step = min(self._data, len(piece) - position)
                self._data -= step
                position += step
                continue
            found = bytes(piece[position : position + LONGEST_CHUNK_LINE]).find(b"\n")
            end = len(piece) if found < 0 else position + found + 1
            self._line += piece[position:end]
            position = end
            if found >= 0:
                self._end_line()
            if len(self._line) > LONGEST_CHUNK_LINE:
                raise WireError("a chunk's length is longer than a line")
        return position

    def _end_line(self) -> None:
        line = bytes(self._line).strip()
        self._line.clear()
        if self._trailer:
            self.ended = not line
            return
        try:
            size = int(line.partition(b";")[0], 16)
        except ValueError as error:
            raise WireError(f"not a chunk's length: {line[:40]!r}") from error
        self._trailer = size == 0
        self._data = size + 2 if size else 0


class Wire:
    """One side of a connection."""

    def __init__(self, connection: socket.socket) -> None:
        connection.setblocking(False)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket = connection
        self._loop = asyncio.get_running_loop()
        self._ahead = b""  # what came after the end of a head
        self._buffer = memoryview(bytearray(PIECE))

    async def head(self) -> Head | None:
        """Read the next head; None if the other side closed between two messages."""
        while True:
            end = self._ahead.find(b"\r\n\r\n")
            if end >= 0:
                raw, self._ahead = self._ahead[: end + 4], self._ahead[end + 4 :]
                return parse_head(raw)
            if len(self._ahead) > LONGEST_HEAD:
                raise WireError("the head of a message is too long")
            more = await self._receive(PIECE)
            if not more:
                if self._ahead:
                    raise WireError("ended in the middle of a head")
                return None
            self._ahead += more

    async def body(self, length: Length) -> AsyncIterator[memoryview]:
        """Read a body piece by piece; each piece is overwritten by the next."""
        if length is Framing.CHUNKED:
            async for piece in self._chunked():
                yield piece
        elif length is Framing.UNTIL_CLOSE:
            while piece := await self._piece(PIECE):
                yield piece
        else:
            while length > 0:
                piece = await self._piece(length)
                if not piece:
                    raise WireError("ended in the middle of a body")
                length -= len(piece)
                yield piece

    async def send(self, data: bytes | memoryview) -> None:
        try:
            await self._loop.sock_sendall(self._socket, data)
        except OSError as error:
            raise WireError(str(error)) from error

    async def delivered(self, *, timeout: float) -> None:
        """Wait until the other side's kernel has taken everything that was sent."""
        end = self._loop.time() + timeout
        while self._socket.fileno() >= 0 and self._loop.time() < end:
            waiting = fcntl.ioctl(self._socket, termios.TIOCOUTQ, b"\0" * 4)
            if not any(waiting):
                return
            await asyncio.sleep(0.005)

    def silent(self) -> bool:
        """Whether the connection is open and nothing has come: an idle server may have closed it meanwhile."""
        try:
            self._socket.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return not self._ahead
        except OSError:
            return False
        return False

    def break_off(self) -> None:
        """Let the close be a reset: the other side sees a broken connection instead of its end."""
        if self._socket.fileno() >= 0:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    def close(self) -> None:
        """Only when nothing waits on it any more: the number of a closed socket is given away again at once."""
        self._socket.close()

    async def _chunked(self) -> AsyncIterator[memoryview]:
        count = ChunkCount()
        while not count.ended:
            piece = await self._piece(PIECE)
            if not piece:
                raise WireError("ended in the middle of a body")
            used = count.take(piece)
            if used < len(piece):
                self._ahead = bytes(piece[used:]) + self._ahead
            yield piece[:used]

    async def _piece(self, most: int) -> memoryview:
        if self._ahead:
            taken, self._ahead = self._ahead[:most], self._ahead[most:]
            return memoryview(taken)
        return await self._receive(min(most, PIECE))

    async def _receive(self, most: int) -> memoryview:
        try:
            count = await self._loop.sock_recv_into(self._socket, self._buffer[:most])
        except OSError as error:
            raise WireError(str(error)) from error
        return self._buffer[:count]
