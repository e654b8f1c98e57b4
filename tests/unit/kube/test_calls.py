"""What is told of a call to whoever counts them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from etcd_operator.kube import requests
from etcd_operator.kube.calls import Call, resource, verb
from etcd_operator.kube.client import Client
from etcd_operator.kube.connection import Connection
from etcd_operator.kube.errors import NotFoundError, UnreachableError
from etcd_operator.kube.requests import PatchKind, Request, Selection
from etcd_operator.kube.resources import ETCD_CLUSTERS, LEASES, NODES, PODS

POD = {"metadata": {"name": "a", "namespace": "ns"}}


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        (requests.read(PODS.path(namespace="ns", name="a")), ("get", "pods")),
        (requests.page(Selection(PODS, namespace="ns"), limit=5), ("list", "pods")),
        (requests.page(Selection(ETCD_CLUSTERS), limit=5), ("list", "etcdclusters")),
        (requests.read(NODES.path(name="a")), ("get", "nodes")),
        (requests.read("/api/v1/namespaces/ns"), ("get", "namespaces")),
        (requests.read("/api/v1/namespaces"), ("list", "namespaces")),
        (requests.read("/version"), ("list", "version")),
        (requests.watch(Selection(PODS), resource_version="1", timeout_seconds=9), ("watch", "pods")),
        (requests.create(PODS, POD), ("create", "pods")),
        (requests.update(LEASES, POD), ("update", "leases")),
        (requests.update(PODS, POD, subresource="status"), ("update", "pods/status")),
        (requests.apply(ETCD_CLUSTERS, POD, field_manager="m", subresource="status"), ("apply", "etcdclusters/status")),
        (requests.patch(PODS.path(namespace="ns", name="a"), {}, kind=PatchKind.MERGE), ("patch", "pods")),
        (requests.delete(PODS.path(namespace="ns", name="a")), ("delete", "pods")),
    ],
)
def test_a_call_is_told_in_the_words_of_access_rules(request_: Request, words: tuple[str, str]) -> None:
    assert (verb(request_), resource(request_)) == words


@asynccontextmanager
async def line_that_says(answer: bytes) -> AsyncIterator[str]:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()


def answer(status: str, body: bytes = b"{}") -> bytes:
    return f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body


async def test_an_answer_is_told_with_its_code_and_its_time() -> None:
    told: list[Call] = []
    async with (
        line_that_says(answer("201 Created")) as address,
        Client(Connection(address), user_agent="tests", listener=told.append) as client,
    ):
        await client.create(PODS, POD)

    (call,) = told
    assert (call.verb, call.resource, call.code) == ("create", "pods", "201")
    assert 0 < call.seconds < 60


async def test_a_refusal_is_told_with_its_code() -> None:
    told: list[Call] = []
    async with (
        line_that_says(answer("404 Not Found")) as address,
        Client(Connection(address), user_agent="tests", listener=told.append) as client,
    ):
        with pytest.raises(NotFoundError):
            await client.get(PODS, "a", namespace="ns")

    assert [(call.verb, call.code) for call in told] == [("get", "404")]


@pytest.mark.parametrize("said", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}"])
async def test_a_broken_answer_is_told_as_none(said: bytes) -> None:
    told: list[Call] = []
    async with (
        line_that_says(said) as address,
        Client(Connection(address), user_agent="tests", listener=told.append) as client,
    ):
        with pytest.raises(UnreachableError):
            await client.get(PODS, "a", namespace="ns")

    assert [(call.verb, call.code) for call in told] == [("get", "none")]


async def test_a_watch_is_told_when_it_has_begun() -> None:
    told: list[Call] = []
    event = b'{"type":"ADDED","object":{"metadata":{"name":"a"}}}\n'
    async with (
        line_that_says(answer("200 OK", event)) as address,
        Client(Connection(address), user_agent="tests", listener=told.append) as client,
    ):
        changes = client.watch(PODS, resource_version="1", timeout_seconds=9, silence=9.0)
        async for _ in changes:
            assert [(call.verb, call.code) for call in told] == [("watch", "200")]

    assert len(told) == 1
