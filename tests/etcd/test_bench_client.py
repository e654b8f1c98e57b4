"""The client of the benchmarks tells the truth about its writes: it would be easy to lose none by not looking."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import msgspec

from bench.upgrading import Account
from bench.writing import FIRST_TRY, PREFIX, SECOND_TRY
from etcd_operator.etcd.keys import prefix_end
from etcd_operator.etcd.line import Target
from etcd_operator.etcd.pool import Pool
from tests.etcd.expecting import eventually
from tests.etcd.servers import Cluster, cluster

VERSION = "3.6"


@dataclass
class Client:
    process: subprocess.Popen[bytes]

    def account(self) -> Account:
        output, _ = self.process.communicate(timeout=60)
        assert self.process.returncode == 0
        return msgspec.json.decode(output, type=Account)


@contextmanager
def a_client(servers: Cluster) -> Iterator[Client]:
    addresses = [server.client for server in servers.servers]
    argv = [sys.executable, "-m", "bench.writing", *addresses]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        yield Client(process)


async def writes(servers: Cluster) -> None:
    """Until the client has come to work."""
    async with Pool() as pool:
        member = pool.member(Target(servers[0].client))
        await eventually(
            lambda: member.range(PREFIX, range_end=prefix_end(PREFIX), count_only=True),
            until=lambda found: found.count > 50,
        )


async def test_a_member_that_ends_costs_a_client_that_fails_over_nothing() -> None:
    with cluster(VERSION, size=3) as servers, a_client(servers) as client:
        await writes(servers)
        for server in servers.servers:
            await asyncio.to_thread(server.stop)
            await asyncio.sleep(1)
            server.start()
            await asyncio.to_thread(server.wait_healthy)
            await asyncio.sleep(1)

        account = await asyncio.to_thread(client.account)

    assert len(account.acknowledged) > 100
    assert account.failed_over > 0
    assert account.lost == 0


async def test_a_write_that_is_taken_away_is_found_to_be_lost() -> None:
    with cluster(VERSION) as servers, a_client(servers) as client:
        await writes(servers)
        async with Pool() as pool:
            deleted = await pool.member(Target(servers[0].client)).delete(PREFIX, range_end=prefix_end(PREFIX))
        await writes(servers)

        account = await asyncio.to_thread(client.account)

    assert deleted.count > 0
    assert deleted.count <= account.lost <= deleted.count + 100
    assert account.lost < len(account.acknowledged)


async def test_writes_that_nobody_takes_are_told_as_failed() -> None:
    with cluster(VERSION, size=3) as servers, a_client(servers) as client:
        await writes(servers)
        for server in servers.servers[:2]:
            server.kill()
        await asyncio.sleep(FIRST_TRY + SECOND_TRY + 1)
        for server in servers.servers[:2]:
            server.start()
        await asyncio.to_thread(servers.wait_healthy)

        account = await asyncio.to_thread(client.account)

    assert account.failed > 0
    assert account.failures
    assert account.lost == 0
