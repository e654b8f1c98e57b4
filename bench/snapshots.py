"""A snapshot by us and by `etcdctl snapshot save`: the same server and the same database.

Once with `save_snapshot`, to a file on the same disk, synced at the end as etcdctl does it; and once as the stream that
an upload is fed from, read to its end and kept nowhere. Ours also check etcd's SHA-256, which etcdctl leaves to whoever
restores; etcdctl's time includes its start, some 30 ms.
"""

from __future__ import annotations

import asyncio
import functools
import os
import time
from pathlib import Path

from bench.comparison import Better, Comparison, Result, in_turns
from etcd_operator.etcd.line import Target
from etcd_operator.etcd.member import Member
from etcd_operator.etcd.pool import Pool
from etcd_operator.etcd.tls import Tls
from tests.etcd.servers import Cluster, cluster, program

VERSION = "3.6"
MEBIBYTE = 1 << 20
VALUES = 1024  # of one MiB each
QUOTA = f"--quota-backend-bytes={8 << 30}"


async def measure(rounds: int) -> list[Result]:
    with cluster(VERSION, tls=True, extra=(QUOTA,)) as servers:
        server = servers[0]
        assert server.operator
        identity = server.operator
        tls = Tls(identity.ca.read_bytes(), identity.certificate.read_bytes(), identity.key.read_bytes())
        async with Pool() as pool:
            member = pool.member(Target(server.client, authority=server.authority), tls=tls)
            for number in range(VALUES):
                await member.put(f"key-{number}".encode(), os.urandom(MEBIBYTE))
            baseline = functools.partial(_etcdctl, servers, servers.folder / "etcdctl.db")
            saved = functools.partial(_saved, member, servers.folder / "saved.db")
            streamed = functools.partial(_streamed, member)
            return [
                Comparison(
                    f"snapshot of {VALUES} MiB {name}, mutual TLS, etcd {VERSION}",
                    "MiB/s",
                    "etcdctl snapshot save",
                    *await in_turns(ours=ours, baseline=baseline, rounds=rounds),
                    better=Better.HIGHER,
                    bound=0.95,
                )
                for name, ours in (("saved to a file", saved), ("streamed and verified", streamed))
            ]


async def _saved(member: Member, file: Path) -> float:
    began = time.perf_counter()
    await member.save_snapshot(file)
    return _rate(file, time.perf_counter() - began)


async def _streamed(member: Member) -> float:
    began = time.perf_counter()
    size = 0
    async with member.snapshot() as snapshot:
        async for piece in snapshot:
            size += len(piece)
    return size / MEBIBYTE / (time.perf_counter() - began)


async def _etcdctl(servers: Cluster, file: Path) -> float:
    server = servers[0]
    assert server.operator
    files = server.operator
    argv = [str(program(VERSION, "etcdctl")), f"--endpoints=https://{server.client}", f"--cacert={files.ca}"]
    argv += [f"--cert={files.certificate}", f"--key={files.key}", "--insecure-skip-tls-verify"]
    began = time.perf_counter()
    child = await asyncio.create_subprocess_exec(*argv, "snapshot", "save", str(file), stderr=asyncio.subprocess.PIPE)
    _, problem = await child.communicate()
    took = time.perf_counter() - began
    if child.returncode:
        raise RuntimeError(f"etcdctl ended with {child.returncode}: {problem.decode()}")
    return _rate(file, took)


def _rate(file: Path, seconds: float) -> float:
    size = file.stat().st_size
    file.unlink()
    return size / MEBIBYTE / seconds
