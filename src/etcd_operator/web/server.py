"""The HTTP server for probes and metrics: up before everything else, so that a process that waits can say for what."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from aiohttp import web

from etcd_operator.web.health import Answer, Health

METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"
FAREWELL = 1.0  # seconds for answers that are under way at the end

_ADDRESS = re.compile(r"(?:\[(?P<bracketed>[^\[\]]*)\]|(?P<plain>[^\[\]:]*)):(?P<port>[0-9]{1,5})")


class ListenError(Exception):
    """The address cannot be listened on; the sentence says why."""


@dataclass(frozen=True)
class Address:
    """Where to listen; an empty host is every interface."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @classmethod
    def read(cls, text: str) -> Address:
        """As Go reads it: host:port, :port, [IPv6]:port."""
        found = _ADDRESS.fullmatch(text)
        if found is None or int(found["port"]) > 65535:
            raise ValueError(
                f"{text!r} is no address to listen on: host:port is expected, such as 0.0.0.0:8080 or :8080"
            )
        return cls(found["bracketed"] or found["plain"] or "", int(found["port"]))


@asynccontextmanager
async def serving(
    address: Address, *, health: Health, metrics: Callable[[], Awaitable[bytes]]
) -> AsyncIterator[Address]:
    """Serves while inside; yields the address with the port that was chosen where it is 0."""
    runner = web.AppRunner(application(health, metrics), access_log=None, shutdown_timeout=FAREWELL)
    await runner.setup()
    try:
        site = web.TCPSite(runner, address.host or None, address.port)
        try:
            await site.start()
        except OSError as error:
            raise ListenError(f"{address} cannot be listened on: {error.strerror or error}") from error
        yield Address(address.host, runner.addresses[0][1])
    finally:
        await runner.cleanup()


def application(health: Health, metrics: Callable[[], Awaitable[bytes]]) -> web.Application:
    async def healthz(_: web.Request) -> web.Response:
        return _told(health.alive())

    async def readyz(_: web.Request) -> web.Response:
        return _told(health.ready())

    async def exposed(_: web.Request) -> web.Response:
        return web.Response(body=await metrics(), headers={"Content-Type": METRICS_TYPE})

    served = web.Application()
    served.router.add_get("/healthz", healthz)
    served.router.add_get("/readyz", readyz)
    served.router.add_get("/metrics", exposed)
    return served


def _told(answer: Answer) -> web.Response:
    return web.Response(status=answer.status, text=answer.text + "\n", headers={"Cache-Control": "no-store"})
