"""A snapshot in a file: all of it, or the folder as it was."""

from __future__ import annotations

import asyncio
import errno
import hashlib
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from etcd_operator.etcd.errors import CorruptSnapshotError, NoAnswerError
from etcd_operator.etcd.line import Target
from etcd_operator.etcd.pool import Pool
from etcd_operator.etcd.snapshot import Snapshot
from tests.etcd.dialling import Dial
from tests.etcd.expecting import eventually, output_of
from tests.etcd.filling import MARK, MIB, fill
from tests.etcd.full_disk import files_limited_to
from tests.etcd.leftovers import no_leftovers
from tests.etcd.relay import relay_to
from tests.etcd.servers import VERSIONS, Cluster, cluster, program

OLDER = b"the snapshot of yesterday"


@pytest.fixture(scope="module")
def filled() -> Iterator[Cluster]:
    with cluster(VERSIONS[-1]) as made:
        yield made


@pytest.fixture
def file(scratch: Path) -> Iterator[Path]:
    """Where an older snapshot is, which must stay as it is, alone, whatever becomes of the new one."""
    file = scratch / "snapshot.db"
    file.write_bytes(OLDER)
    yield file
    assert names_in(scratch) == [file.name]
    assert file.read_bytes() == OLDER


def names_in(folder: Path) -> list[str]:
    return [each.name for each in folder.iterdir()]


async def test_a_saved_snapshot_is_complete_and_verified(single: Cluster, pool: Pool, scratch: Path) -> None:
    member = Dial(pool, single)()
    await fill(member)
    file = scratch / "snapshot.db"
    file.write_bytes(OLDER)

    saved = await member.save_snapshot(file)

    content = file.read_bytes()
    assert saved.path == file
    assert len(content) == saved.size > 12 * MIB
    assert saved.sha256 == hashlib.sha256(content[:-32]).hexdigest() == content[-32:].hex()
    assert names_in(scratch) == [file.name]


async def test_it_is_restored_by_the_tools_of_etcd(single: Cluster, pool: Pool, scratch: Path) -> None:
    await fill(Dial(pool, single)())
    await Dial(pool, single)().save_snapshot(scratch / "snapshot.db")

    command = ["snapshot", "restore", str(scratch / "snapshot.db"), "--data-dir", str(scratch / "restored")]
    await output_of(program("3.6", "etcdutl"), *command)

    assert (scratch / "restored/member/snap/db").stat().st_size > 12 * MIB


async def test_nobody_else_may_read_it(filled: Cluster, pool: Pool, scratch: Path) -> None:
    await Dial(pool, filled)().save_snapshot(scratch / "snapshot.db")

    assert (scratch / "snapshot.db").stat().st_mode & 0o777 == 0o600


async def test_a_stream_that_is_cut_leaves_the_older_file(filled: Cluster, pool: Pool, file: Path) -> None:
    await fill(Dial(pool, filled)())
    async with relay_to(filled[0].client) as relay:
        relay.cut_after(5 * MIB)
        with pytest.raises(NoAnswerError):
            await pool.member(Target(relay.address)).save_snapshot(file)


async def test_a_stream_that_was_altered_leaves_the_older_file(filled: Cluster, pool: Pool, file: Path) -> None:
    await fill(Dial(pool, filled)())
    async with relay_to(filled[0].client) as relay:
        relay.alter(lambda piece: piece.replace(MARK, MARK.swapcase(), 1))
        with pytest.raises(CorruptSnapshotError, match="SHA-256"):
            await pool.member(Target(relay.address)).save_snapshot(file)


@asynccontextmanager
async def silent_after(size: int, server: str) -> AsyncIterator[Target]:
    async with relay_to(server) as relay:
        passed = 0

        def count(piece: bytes) -> bytes:
            nonlocal passed
            passed += len(piece)
            if passed > size:
                relay.swallow_answers()
            return piece

        relay.alter(count)
        yield Target(relay.address)


async def test_a_server_that_falls_silent_amid_it_is_an_error(filled: Cluster, pool: Pool, file: Path) -> None:
    await fill(Dial(pool, filled)())
    async with silent_after(5 * MIB, filled[0].client) as target:
        with pytest.raises(NoAnswerError, match="nothing came"):
            await pool.member(target).save_snapshot(file, stall=0.5)


async def test_a_disk_that_takes_no_more_is_an_error_and_leaves_nothing_behind(
    filled: Cluster, pool: Pool, file: Path
) -> None:
    member = Dial(pool, filled)()
    await fill(member)
    async with no_leftovers():
        with files_limited_to(5 * MIB + 7), pytest.raises(OSError, match="File too large") as refused:
            await member.save_snapshot(file)

        assert refused.value.errno == errno.EFBIG


async def test_a_folder_that_is_not_there_is_an_error_before_the_server_is_asked(pool: Pool, scratch: Path) -> None:
    with pytest.raises(FileNotFoundError):
        await pool.member(Target("127.0.0.1:1")).save_snapshot(scratch / "nowhere" / "snapshot.db")


async def test_one_that_is_cancelled_leaves_nothing_behind(filled: Cluster, pool: Pool, file: Path) -> None:
    member = Dial(pool, filled)()
    await fill(member)

    def begun() -> bool:
        return any(part.stat().st_size for part in file.parent.glob(".*.part"))

    async with no_leftovers(), relay_to(filled[0].client) as relay:
        relay.cut_after(50 * MIB)
        saving = asyncio.create_task(pool.member(Target(relay.address)).save_snapshot(file))
        await eventually(lambda: asyncio.sleep(0, begun()), until=bool)
        saving.cancel()
        await asyncio.wait({saving})

        assert saving.cancelled()


class SlowDisk:
    """Takes its time for one piece."""

    def __init__(self) -> None:
        self.size = 0

    def write(self, pieces: Iterator[bytes]) -> None:
        for number, piece in enumerate(pieces):
            self.size += len(piece)
            if number == 3:
                time.sleep(1)


async def test_the_time_that_the_disk_takes_is_no_silence_of_the_server(filled: Cluster, pool: Pool) -> None:
    member = Dial(pool, filled)()
    await fill(member)
    disk = SlowDisk()

    async with Snapshot(member, deadline=5, stall=0.2, consume=disk.write) as snapshot:
        assert [piece async for piece in snapshot] == []

    assert disk.size == snapshot.total


async def test_a_silence_after_the_disk_took_its_time_is_one(filled: Cluster, pool: Pool) -> None:
    await fill(Dial(pool, filled)())
    disk = SlowDisk()

    async with (
        asyncio.timeout(60),
        silent_after(5 * MIB, filled[0].client) as target,
        Snapshot(pool.member(target), deadline=5, stall=0.2, consume=disk.write) as snapshot,
    ):
        with pytest.raises(NoAnswerError, match="nothing came"):
            await anext(snapshot)
