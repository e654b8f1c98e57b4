"""A member's database as a stream, verified while it passes.

The server sends the database, in pieces of 32 KiB, and at the end the SHA-256 of it. All of these bytes are handed on,
because a file of exactly them is what etcd's own tools restore. Whoever stores them must wait for the end of the
iteration: only the last step, which brings no bytes, says that all before it was right.

Time is limited for the first piece and for each pause, not for the whole: how long a database takes depends on its size
and on whoever reads it. A few pieces are fetched ahead and no more, so a slow reader costs no memory.
"""

from __future__ import annotations

import hashlib
from types import TracebackType
from typing import Self, cast

import grpc

from etcd_operator.etcd import methods
from etcd_operator.etcd.call import Caller, seconds_left, until_from
from etcd_operator.etcd.errors import CorruptSnapshotError, NoAnswerError, Reason, RefusedError
from etcd_operator.etcd.line import Line
from etcd_operator.etcd.pump import Consumer, Pump
from etcd_operator.etcd.refusals import error_for

STALL = 30.0  # seconds
DIGEST = 32  # bytes
SECTOR = 512  # a database grows in pages, which are multiples of it


class Trailer:
    """Holds back the last 32 bytes of what passes, and hashes all before them."""

    def __init__(self) -> None:
        self.size = 0
        self._hash = hashlib.sha256()
        self._tail = b""

    def feed(self, piece: bytes) -> None:
        self.size += len(piece)
        if len(piece) < DIGEST:
            piece = self._tail + piece
        else:
            self._hash.update(self._tail)
        self._hash.update(memoryview(piece)[:-DIGEST])
        self._tail = piece[-DIGEST:]

    @property
    def sha256(self) -> str:
        return self._hash.hexdigest()

    def verify(self) -> None:
        database = self.size - DIGEST
        if database <= 0 or database % SECTOR:
            raise CorruptSnapshotError(
                f"the snapshot ended after {self.size} bytes, which is no database with a checksum behind it"
            )
        if self._hash.digest() != self._tail:
            raise CorruptSnapshotError(
                f"the {database} bytes of the snapshot have the SHA-256 {self.sha256}, "
                f"and the server says {self._tail.hex()}"
            )


class Snapshot:
    """`async with member.snapshot() as snapshot`, then `async for piece in snapshot`.

    With `consume`, which gets the pieces in a thread of its own, the iteration brings none, and ends when all is right.
    """

    def __init__(self, caller: Caller, *, deadline: float, stall: float, consume: Consumer | None = None) -> None:
        self._caller = caller
        self._consume = consume
        self._deadline = deadline
        self._stall = stall
        self._trailer = Trailer()
        self._pump: Pump | None = None
        self._first: bytes | None = None
        self._received = 0

    @property
    def total(self) -> int:
        """Bytes, with the checksum; known from the beginning."""
        return self._begun.size + DIGEST

    @property
    def version(self) -> str:
        """Of the storage, where the server tells it (3.6)."""
        return self._begun.version

    @property
    def received(self) -> int:
        """Bytes so far."""
        return self._received

    @property
    def remaining(self) -> int:
        return self.total - self.received

    @property
    def sha256(self) -> str:
        """Of the database, once the iteration has ended."""
        return self._trailer.sha256

    async def __aenter__(self) -> Self:
        until = until_from(self._deadline)
        async with self._caller.line(until) as line:
            await self._caller.settle(line, methods.SNAPSHOT, until=until)
            try:
                await self._start(line, until)
            except RefusedError as refusal:
                if not self._caller.forget_token(line, methods.SNAPSHOT, refusal):
                    raise
                await self._start(line, until)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._begun.stop()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        piece, self._first = self._first, None
        piece = piece or await self._read(self._begun, self._stall)
        if piece is None:
            self._trailer.verify()
            raise StopAsyncIteration
        self._received += len(piece)
        return piece

    @property
    def _begun(self) -> Pump:
        if self._pump is None:
            raise RuntimeError("a snapshot is read inside `async with`")
        return self._pump

    async def _start(self, line: Line, until: float) -> None:
        metadata = await self._caller.metadata(line, until=until)
        await line.connect(until)
        watch, consume = self._trailer.feed, self._consume
        pump = Pump(self._caller.target, self._caller.tls, metadata, watch=watch, consume=consume)
        try:
            self._first = await self._read(pump, seconds_left(until))
        except BaseException:
            await pump.stop()
            raise
        self._pump = pump

    async def _read(self, pump: Pump, pause: float) -> bytes | None:
        what = f"Snapshot on {self._caller.target}"
        try:
            return await pump.read(pause)
        except TimeoutError:
            raise NoAnswerError(f"{what}: nothing came for {pause:.3g} s", Reason.NO_ANSWER) from None
        except grpc.RpcError as error:
            status = cast("grpc.Call", error)
            raise error_for(status.code(), status.details() or "", what=what, changes=False) from None
