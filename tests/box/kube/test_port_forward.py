"""Ports of pods on this machine's loopback, through the API server and the kubelet."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from etcd_operator.kube.client import Client
from etcd_operator.kube.errors import ForbiddenError, KubeError, NotFoundError
from etcd_operator.kube.kubeconfig import from_kubeconfig
from etcd_operator.kube.port_forward import PortForwardError, port_forward, tunnel
from tests.box.driving import Box
from tests.box.kube.kubeconfigs import Admin, new_token, write_kubeconfig
from tests.box.pods import pod, wait_ready

ECHO, WEB = 7000, 8080
SCRIPT = "mkdir /tmp/w; echo hello > /tmp/w/index.html; httpd -p 8080 -h /tmp/w; exec nc -ll -p 7000 -e cat"
BIG = 3_000_000


@pytest.fixture(scope="module")
def server(box: Box, place: str) -> str:
    """A pod that answers HTTP on one port, and sends back what it gets on another."""
    box.apply(pod("server", place, command=["sh", "-c", SCRIPT]))
    wait_ready(box, place, "server")
    return "server"


@asynccontextmanager
async def connected(port: int) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        yield reader, writer
    finally:
        writer.close()


async def fetch(port: int) -> bytes:
    async with asyncio.timeout(30), connected(port) as (reader, writer):
        writer.write(b"GET / HTTP/1.0\r\n\r\n")
        return await reader.read()


async def test_many_connections_one_after_another_and_at_once(client: Client, server: str, place: str) -> None:
    problems: list[KubeError] = []
    async with port_forward(client, server, namespace=place, port=WEB, report=problems.append) as port:
        answers = [await fetch(port) for _ in range(2)]
        answers += await asyncio.gather(*(fetch(port) for _ in range(20)))

    assert [answer.rpartition(b"\r\n")[2] for answer in answers] == [b"hello\n"] * 22
    assert problems == []


async def test_both_directions_carry_much_at_the_same_time(client: Client, server: str, place: str) -> None:
    sent = bytes(range(256)) * (BIG // 256)
    problems: list[KubeError] = []
    async with (
        asyncio.timeout(60),
        port_forward(client, server, namespace=place, port=ECHO, report=problems.append) as port,
        connected(port) as (reader, writer),
    ):
        writer.write(sent)
        got = await reader.readexactly(len(sent))

    assert got == sent
    assert problems == []


async def test_a_port_nobody_listens_on_is_said_in_the_nodes_words(client: Client, server: str, place: str) -> None:
    problems: list[KubeError] = []
    async with port_forward(client, server, namespace=place, port=9, report=problems.append) as port:
        assert await fetch(port) == b""
    assert [type(problem) for problem in problems] == [PortForwardError]
    assert f"port 9 of pod {place}/server" in str(problems[0])
    assert "connection refused" in str(problems[0])

    async with asyncio.timeout(30), tunnel(client, server, namespace=place, port=9) as far:
        with pytest.raises(PortForwardError, match="connection refused"):
            await far.read()


async def test_a_failed_connection_does_not_hurt_the_next(client: Client, server: str, place: str) -> None:
    problems: list[KubeError] = []
    async with port_forward(client, server, namespace=place, port=WEB, report=problems.append) as port:
        async with connected(port) as (_, writer):
            writer.transport.abort()
        assert (await fetch(port)).endswith(b"hello\n")


async def test_a_tunnel_ends_when_the_pod_ends_it(client: Client, server: str, place: str) -> None:
    async with asyncio.timeout(30), tunnel(client, server, namespace=place, port=WEB) as far:
        await far.write(b"GET / HTTP/1.0\r\n\r\n")
        whole = b""
        while piece := await far.read():
            whole += piece
        assert whole.endswith(b"hello\n")
        assert await far.read() == b""


async def test_a_pod_that_is_not_there_is_not_found(client: Client, server: str, place: str) -> None:
    with pytest.raises(NotFoundError, match='pods "nobody" not found'):
        async with tunnel(client, "nobody", namespace=place, port=WEB):
            pass


async def test_who_may_not_is_told_so_in_the_servers_words(box: Box, tmp_path: Path, server: str, place: str) -> None:
    file = write_kubeconfig(tmp_path, cluster=Admin(box).cluster, user={"token": new_token(box, place)})
    async with Client(from_kubeconfig(files=(file,)), user_agent="tests") as nobody:
        with pytest.raises(ForbiddenError, match=r'cannot .* resource "pods/portforward"'):
            async with tunnel(nobody, server, namespace=place, port=WEB):
                pass


async def test_leaving_ends_what_is_open(client: Client, server: str, place: str) -> None:
    async with port_forward(client, server, namespace=place, port=ECHO, report=print) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"x")
        assert await reader.readexactly(1) == b"x"

    async with asyncio.timeout(30):
        assert await reader.read() == b""
    writer.close()
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection("127.0.0.1", port)
