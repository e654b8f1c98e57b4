"""Reading one object again and again: our client against aiohttp used with bare hands.

The baseline does the least that can be called a request: it reads the answer's bytes and neither decodes nor checks
them. What ours adds (credentials, a deadline, a budget, typed errors, decoding) must cost little beside that.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

import aiohttp

from bench.boxes import NAMESPACE, a_box
from bench.comparison import Better, Comparison, Result, in_turns
from etcd_operator.kube.budget import Budget
from etcd_operator.kube.client import Client
from etcd_operator.kube.kubeconfig import from_kubeconfig
from etcd_operator.kube.resources import CONFIG_MAPS
from etcd_operator.kube.surroundings import user_agent
from etcd_operator.kube.tls import Contexts

REQUESTS = 2000
IN_FLIGHT = 32
PLENTY = Budget(per_second=1e6, burst=REQUESTS)  # the client is measured, not how long it is made to wait


async def measure(rounds: int) -> list[Result]:
    with a_box() as box:
        box.kubectl("create", "configmap", "one", "-n", NAMESPACE, "--from-literal=word=yes")
        connection = from_kubeconfig(files=(box.layout.kubeconfig,))
        url = connection.server + CONFIG_MAPS.path(namespace=NAMESPACE, name="one")
        certificate = (await connection.credentials.login()).certificate
        connector = aiohttp.TCPConnector(limit=IN_FLIGHT, ssl=Contexts(connection.trust).context(certificate))
        async with (
            Client(connection, user_agent=user_agent("bench"), budget=PLENTY) as client,
            aiohttp.ClientSession(connector=connector) as session,
        ):

            async def ours() -> None:
                await client.get(CONFIG_MAPS, "one", namespace=NAMESPACE)

            async def plain() -> None:
                async with session.get(url) as answer:
                    await answer.read()

            figures = await in_turns(
                ours=lambda: _requests_per_second(ours), baseline=lambda: _requests_per_second(plain), rounds=rounds
            )
    name = f"GET of one object, {REQUESTS} times, {IN_FLIGHT} in flight"
    return [Comparison(name, "/s", "plain aiohttp", *figures, better=Better.HIGHER, bound=0.8)]


async def _requests_per_second(request: Callable[[], Awaitable[None]]) -> float:
    left = iter(range(REQUESTS))

    async def worker() -> None:
        for _ in left:
            await request()

    began = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for _ in range(IN_FLIGHT):
            group.create_task(worker())
    return REQUESTS / (time.perf_counter() - began)
