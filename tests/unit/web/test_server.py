"""Probes and metrics over real connections."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
import pytest

from etcd_operator.web.health import Health, Phase
from etcd_operator.web.metrics import Metrics
from etcd_operator.web.server import Address, ListenError, serving

LOOPBACK = Address("127.0.0.1", 0)


@asynccontextmanager
async def served(health: Health) -> AsyncIterator[str]:
    metrics = Metrics(version="1.2.3")
    async with serving(LOOPBACK, health=health, metrics=metrics.exposed) as address:
        yield f"http://{address}"


async def asked(url: str) -> tuple[int, str]:
    async with aiohttp.ClientSession() as session, session.get(url) as response:
        return response.status, await response.text()


async def test_it_is_alive_from_the_beginning_and_ready_when_it_is_its_turn_to_wait() -> None:
    health = Health()
    async with served(health) as url:
        assert await asked(f"{url}/healthz") == (200, "ok\n")
        assert await asked(f"{url}/readyz") == (503, "starting\n")

        health.enter(Phase.STANDING_BY, "waiting for the lease")
        assert await asked(f"{url}/readyz") == (200, "standing by: waiting for the lease\n")


async def test_metrics_are_text_that_prometheus_reads() -> None:
    async with served(Health()) as url, aiohttp.ClientSession() as session, session.get(f"{url}/metrics") as response:
        assert response.status == 200
        assert response.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
        assert "etcd_operator_build_info{" in await response.text()


async def test_anything_else_is_not_found() -> None:
    async with served(Health()) as url:
        assert (await asked(f"{url}/debug/pprof"))[0] == 404


async def test_an_address_in_use_is_told_in_a_sentence() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = Address("127.0.0.1", taken.getsockname()[1])
        with pytest.raises(ListenError, match=rf"127.0.0.1:{address.port} cannot be listened on: .*in use"):
            async with serving(address, health=Health(), metrics=Metrics(version="1").exposed):
                pass


async def test_a_visitor_who_stays_does_not_hold_up_the_end() -> None:
    clock = asyncio.get_running_loop().time
    async with served(Health()) as url:
        _, writer = await asyncio.open_connection("127.0.0.1", int(url.rpartition(":")[2]))
        begun = clock()
    assert clock() - begun < 30
    writer.close()


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("0.0.0.0:8080", Address("0.0.0.0", 8080)),
        (":8080", Address("", 8080)),
        ("localhost:0", Address("localhost", 0)),
        ("[::1]:9", Address("::1", 9)),
        ("[::]:65535", Address("::", 65535)),
    ],
)
def test_addresses_are_read_as_go_reads_them(text: str, address: Address) -> None:
    assert Address.read(text) == address
    assert str(address) == text


@pytest.mark.parametrize("text", ["", "8080", "host", "host:", "host:http", "::1:80", "host:65536", "http://host:80"])
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no address to listen on"):
        Address.read(text)


async def test_an_empty_host_means_every_interface() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]

    async with serving(Address("", port), health=Health(), metrics=Metrics(version="1").exposed):
        assert await asked(f"http://127.0.0.1:{port}/healthz") == (200, "ok\n")
