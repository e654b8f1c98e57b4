"""A call whose answers come one after the other: opened with its first answer, and read with a limit on each pause.

The first answer belongs to the opening because only it shows that the server has taken the call, and because a token
that is too old shows there, where a new one can still be got.

Each stream carries one request, also where etcd would take more: the client's side is closed behind it. etcd goes on
with a watch all the same, and grpc.aio hides why a server has ended a stream from whoever is still writing to it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Generic, cast

import grpc
import grpc.aio
from google.protobuf.message import DecodeError

from etcd_operator.etcd.call import Caller, Metadata, cancelled, seconds_left, unreadable, until_from
from etcd_operator.etcd.errors import NoAnswerError, Reason, RefusedError
from etcd_operator.etcd.line import Line
from etcd_operator.etcd.methods import Answer, Method, Request

# etcd then ends a stream when the member has lost its leader, instead of keeping it open and silent.
WITH_LEADER: Metadata = (("hasleader", "true"),)


class Stream(Generic[Request, Answer]):
    def __init__(
        self,
        caller: Caller,
        method: Method[Request, Answer],
        request: Request,
        *,
        accept: Callable[[Answer | None], object] = lambda _: None,
        metadata: Metadata = (),
    ) -> None:
        """`accept` may refuse the first answer by raising what it means."""
        self._caller = caller
        self._accept = accept
        self._method = method
        self._request = request
        self._metadata = metadata
        self._held = AsyncExitStack()
        self._call: grpc.aio.UnaryStreamCall[bytes, bytes] | None = None

    async def open(self, deadline: float) -> Answer | None:
        """The first answer, within `deadline` seconds. Whoever opens must close, also after a failure."""
        until = until_from(deadline)
        line = await self._held.enter_async_context(self._caller.line(until))
        await self._caller.settle(line, self._method, until=until)
        try:
            return await self._start(line, until)
        except RefusedError as refusal:
            if not self._caller.forget_token(line, self._method, refusal):
                raise
        self._cancel()
        return await self._start(line, until)

    async def read(self, pause: float | None) -> Answer | None:
        """The next answer, or None when the server has ended the stream. A `pause` longer than that is a failure."""
        if self._call is None:
            raise RuntimeError("a stream must be opened before it is read")
        try:
            async with asyncio.timeout(pause):
                answer = await self._call.read()
        except TimeoutError:
            what = f"{self._method} on {self._caller.target}"
            raise NoAnswerError(f"{what}: nothing came in the time given", Reason.NO_ANSWER) from None
        except grpc.aio.AioRpcError as error:
            raise self._caller.failure(self._method, error) from None
        except asyncio.CancelledError:
            if cancelled():
                raise
            raise self._caller.cut_off(self._method) from None
        if answer is grpc.aio.EOF:
            return None
        try:
            message = self._method.answer.FromString(cast("bytes", answer))
        except DecodeError:
            raise unreadable(self._method, self._caller.target) from None
        self._caller.check(self._method, message)
        return message

    async def close(self) -> None:
        self._cancel()
        await self._held.aclose()

    def _cancel(self) -> None:
        if self._call:
            self._call.cancel()

    async def _start(self, line: Line, until: float) -> Answer | None:
        metadata = (*await self._caller.metadata(line, until=until), *self._metadata)
        await line.connect(until)
        call: grpc.aio.UnaryStreamMultiCallable[bytes, bytes] = line.channel.unary_stream(f"/{self._method.path}")
        self._call = call(self._request.SerializeToString(), metadata=metadata)
        first = await self.read(seconds_left(until))
        self._accept(first)
        return first
