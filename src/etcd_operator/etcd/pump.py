"""Reads a snapshot in a thread of its own, and joins its messages to larger pieces.

The only part of this client that does not use grpc.aio, because of what was measured: a snapshot comes in messages of
32 KiB, grpc.aio wakes the event loop for each, and so reached two thirds of the speed of `etcdctl snapshot save`
(two cores, mutual TLS, into a file), all of it on the loop that everything else waits for. A thread that polls its own
stream is a good deal faster and leaves the loop alone. Its channel is its own too, and is closed with it.

The pieces go to the event loop, or to a consumer that works on them in the thread and so spares the way there.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import threading
import time
from collections.abc import Callable, Iterator

import grpc
import grpc.experimental

from etcd_operator.etcd import methods, snapshot_message
from etcd_operator.etcd.line import MIB, Target, credentials_of, options_for
from etcd_operator.etcd.pb import rpc_pb2 as pb
from etcd_operator.etcd.tls import Tls

PIECE = 128 * 1024  # bytes; the allocator gives larger ones back to the kernel each time, and the next is all faults
AHEAD = 32  # pieces that wait for the reader at most

Consumer = Callable[[Iterator[bytes]], None]

OPTIONS: tuple[tuple[str, int], ...] = (
    # Without it, another thread polls for all streams of the channel and wakes this one for each message.
    (grpc.experimental.ChannelOptions.SingleThreadedUnaryStream, 1),
    # Fewer and larger reads from the socket: less time in the kernel.
    ("grpc.experimental.tcp_read_chunk_size", MIB),
    ("grpc.experimental.tcp_max_read_chunk_size", 4 * MIB),
)


class Pump:
    def __init__(
        self,
        target: Target,
        tls: Tls | None,
        metadata: tuple[tuple[str, str], ...],
        *,
        watch: Callable[[bytes], None],
        consume: Consumer | None = None,
    ) -> None:
        """`watch` is called, in the thread, with each piece before it is passed on.

        With `consume`, which runs in the thread and is given all pieces, none reaches `read`.
        """
        self.size = 0  # of the database, once the first message is there
        self.version = ""
        self._watch = watch
        self._consume = consume or self._hand_over
        self._loop = asyncio.get_running_loop()
        self._pieces: asyncio.Queue[bytes | Exception | None] = asyncio.Queue()
        self._room = threading.Semaphore(AHEAD)
        self._stopping = False
        self._ended = False
        self._moved = time.monotonic()
        options = [*options_for(target), *OPTIONS]
        if tls is None:
            self._channel = grpc.insecure_channel(target.dialled, options=options)
        else:
            self._channel = grpc.secure_channel(target.dialled, credentials_of(tls), options=options)
        self._call = self._channel.unary_stream(
            f"/{methods.SNAPSHOT.path}",
            request_serializer=pb.SnapshotRequest.SerializeToString,
            response_deserializer=snapshot_message.read,
        )(pb.SnapshotRequest(), metadata=metadata)
        threading.Thread(target=self._run, name="etcd-snapshot", daemon=True).start()

    async def read(self, pause: float) -> bytes | None:
        """First an empty piece, when the server has begun, then those that nobody consumed; None at the end.

        TimeoutError when nothing at all came for `pause` seconds.
        """
        if self._ended:
            return None
        begun = time.monotonic()
        while True:
            try:
                async with asyncio.timeout(min(pause, max(begun, self._moved) + pause - time.monotonic())):
                    item = await self._pieces.get()
                break
            except TimeoutError:
                if time.monotonic() >= max(begun, self._moved) + pause:
                    raise
        if not isinstance(item, bytes):
            self._ended = True
        if isinstance(item, Exception):
            raise item
        if item:
            self._room.release()
        return item

    async def stop(self) -> None:
        """End the stream, wherever it is, and the thread with it."""
        self._stopping = True
        self._channel.close()
        self._room.release()
        while not self._ended:
            self._ended = not isinstance(await self._pieces.get(), bytes)

    def _run(self) -> None:
        outcome: Exception | None = None
        try:
            self._consume(self._joined())
        except Exception as error:  # whatever it is, somebody waits for it
            outcome = error
        self._read_to_the_end()
        self._post(outcome)

    def _read_to_the_end(self) -> None:
        """Of a stream that was left early, after the channel was closed.

        gRPC keeps a call whose end was not read, and its connection, for ever, and a call that is cancelled by name
        has no end to read.
        """
        if not self._call.is_active():
            return
        self._channel.close()
        with contextlib.suppress(grpc.RpcError):
            for _ in self._call:
                pass

    def _joined(self) -> Iterator[bytes]:
        parts: list[memoryview] = []
        size = 0
        for message in self._call:
            self._moved = time.monotonic()
            if not self.size:
                self.size = len(message.blob) + message.remaining_bytes
                self.version = message.version
                self._post(b"")
            parts.append(message.blob)
            size += len(message.blob)
            if size >= PIECE:
                yield from self._watched(b"".join(parts))
                parts, size = [], 0
        if parts:
            yield from self._watched(b"".join(parts))

    def _watched(self, piece: bytes) -> Iterator[bytes]:
        if self._stopping:
            return
        self._watch(piece)
        self._moved = math.inf  # the server is not to blame for the time that a consumer takes
        yield piece
        self._moved = time.monotonic()

    def _hand_over(self, pieces: Iterator[bytes]) -> None:
        for piece in pieces:
            self._room.acquire()
            self._post(piece)

    def _post(self, item: bytes | Exception | None) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed, so nobody waits
            self._loop.call_soon_threadsafe(self._pieces.put_nowait, item)
