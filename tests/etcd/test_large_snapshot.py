"""A snapshot of 1 GiB passes through a process that does not grow with it, as a stream and into a file.

It is read by a program of its own, so that its memory is its own: what pytest has loaded does not count.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from box.layout import REPOSITORY
from etcd_operator.etcd.keys import Put
from etcd_operator.etcd.pool import Pool
from tests.etcd.dialling import Dial
from tests.etcd.expecting import output_of
from tests.etcd.servers import Cluster, cluster, program

MIB = 1024 * 1024
GIB = 1024 * MIB
GROWTH = 150 * MIB
FLAGS = ("--quota-backend-bytes=3221225472", "--max-request-bytes=16777216", "--snapshot-count=50")

READER = """
import asyncio, hashlib, json, pathlib, sys
from etcd_operator.etcd.line import Target
from etcd_operator.etcd.pool import Pool

def peak():  # of this program alone: what getrusage tells began with the memory of its parent
    status = open("/proc/self/status").read()
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024

async def main(address, path):
    async with Pool() as pool:
        member = pool.member(Target(address))
        await member.status()
        before = peak()
        digest = hashlib.sha256()
        with open(path, "wb") as file:
            async with member.snapshot() as stream:
                async for piece in stream:
                    if not file.tell():
                        await asyncio.sleep(2)  # the server is faster than its reader
                    digest.update(piece)
                    file.write(piece)
        saved = await member.save_snapshot(pathlib.Path(path + ".saved"))
        sizes = [stream.received, saved.size]
        print(json.dumps({"growth": peak() - before, "sizes": sizes, "sha256": digest.hexdigest()}))

asyncio.run(main(*sys.argv[1:]))
"""


@pytest.fixture(scope="module")
def huge() -> Iterator[Cluster]:
    with cluster("3.6", extra=FLAGS) as made:
        yield made


async def test_a_snapshot_of_1_gib_needs_no_more_memory_than_a_small_one(
    huge: Cluster, pool: Pool, scratch: Path
) -> None:
    member = Dial(pool, huge)()
    for number in range(GIB // (8 * MIB) + 1):
        block = bytes([number]) * MIB
        await member.txn(then=[Put(b"%d/%d" % (number, part), block) for part in range(8)], deadline=30)

    file = scratch / "snapshot.db"
    read = json.loads(await output_of(sys.executable, "-c", READER, huge[0].client, file, cwd=REPOSITORY / "src"))
    with file.open("rb") as saved:
        digest = hashlib.file_digest(saved, "sha256").hexdigest()
    etcdutl = (program("3.6", "etcdutl"), "snapshot", "status", "--write-out=json")
    checked = [json.loads(await output_of(*etcdutl, each)) for each in (file, scratch / "snapshot.db.saved")]

    assert min(read["sizes"]) >= GIB
    assert read["sha256"] == digest
    assert read["growth"] < GROWTH
    assert [each["totalKey"] for each in checked] == [8 * (GIB // (8 * MIB) + 1)] * 2
