"""Requests past the client: for what it would not send, and for what a server says to it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TypeVar

import grpc
import grpc.aio
from google.protobuf.message import Message

from etcd_operator.etcd.pb import rpc_pb2 as pb
from etcd_operator.etcd.pool import Pool
from tests.etcd.dialling import target_of, tls_of
from tests.etcd.servers import Cluster

Answer = TypeVar("Answer", bound=Message)
SECONDS = 2.0


class Raw:
    """One member through a bare channel."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self._channel = channel

    async def __call__(self, method: str, request: Message, answer: type[Answer]) -> Answer:
        call: grpc.aio.UnaryUnaryMultiCallable[Message, Answer] = self._channel.unary_unary(
            f"/etcdserverpb.{method}",
            request_serializer=type(request).SerializeToString,
            response_deserializer=answer.FromString,
        )
        return await call(request, timeout=SECONDS)

    async def code(self, method: str, request: Message | None = None) -> grpc.StatusCode:
        """What a server answers to a request, empty if none is given."""
        call: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = self._channel.unary_unary(f"/{method}")
        try:
            await call(request.SerializeToString() if request else b"", timeout=SECONDS)
        except grpc.aio.AioRpcError as error:
            return error.code()
        return grpc.StatusCode.OK

    async def status(self) -> pb.StatusResponse:
        return await self("Maintenance/Status", pb.StatusRequest(), pb.StatusResponse)

    async def first_piece_of_snapshot(self) -> pb.SnapshotResponse:
        call = self._channel.unary_stream(
            "/etcdserverpb.Maintenance/Snapshot",
            request_serializer=pb.SnapshotRequest.SerializeToString,
            response_deserializer=pb.SnapshotResponse.FromString,
        )(pb.SnapshotRequest(), timeout=SECONDS)
        async for piece in call:
            call.cancel()
            return piece
        raise AssertionError("the snapshot had no pieces")


@asynccontextmanager
async def raw_to(pool: Pool, cluster: Cluster, index: int = 0) -> AsyncIterator[Raw]:
    tls = tls_of(cluster.authority.client()) if cluster.authority else None
    until = asyncio.get_running_loop().time() + SECONDS
    async with pool.line(target_of(cluster[index]), tls, until=until) as line:
        yield Raw(line.channel)
