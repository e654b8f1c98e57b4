"""The snapshot stream against `etcdctl snapshot save`: the same server, the same database, to a file on the same disk.

Both sync the file at the end. Ours checks etcd's SHA-256 as well, which etcdctl leaves to whoever restores; etcdctl's
time includes its start, some 30 ms.
"""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path

from bench.comparison import Better, Comparison, in_turns
from etcd_operator.etcd.line import Target
from etcd_operator.etcd.member import Member
from etcd_operator.etcd.pool import Pool
from etcd_operator.etcd.tls import Tls
from tests.etcd.servers import Cluster, cluster, program

VERSION = "3.6"
MEBIBYTE = 1 << 20
VALUES = 1024  # of one MiB each
QUOTA = f"--quota-backend-bytes={8 << 30}"


async def measure(rounds: int) -> list[Comparison]:
    with cluster(VERSION, tls=True, extra=(QUOTA,)) as servers:
        server = servers[0]
        assert server.operator
        identity = server.operator
        tls = Tls(identity.ca.read_bytes(), identity.certificate.read_bytes(), identity.key.read_bytes())
        async with Pool() as pool:
            member = pool.member(Target(server.client, authority=server.authority), tls=tls)
            for number in range(VALUES):
                await member.put(f"key-{number}".encode(), os.urandom(MEBIBYTE))
            figures = await in_turns(
                ours=lambda: _streamed(member, servers.folder / "ours.db"),
                baseline=lambda: _saved(servers, servers.folder / "etcdctl.db"),
                rounds=rounds,
            )
    name = f"snapshot of {VALUES} MiB to a file, mutual TLS, etcd {VERSION}"
    return [Comparison(name, "MiB/s", "etcdctl snapshot save", *figures, better=Better.HIGHER, bound=0.95)]


async def _streamed(member: Member, file: Path) -> float:
    began = time.perf_counter()
    with file.open("wb") as handle:
        async with member.snapshot() as snapshot:
            async for piece in snapshot:
                handle.write(piece)
        handle.flush()
        os.fsync(handle.fileno())
    return _rate(file, time.perf_counter() - began)


async def _saved(servers: Cluster, file: Path) -> float:
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
