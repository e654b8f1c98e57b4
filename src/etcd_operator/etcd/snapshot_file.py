"""A member's database as a file: whole, verified and on the disk, or not there at all.

It is written under a hidden name beside its own (`.backup.db.x1y2z3.part`), which takes its own when all is right. Only
a process that was killed leaves that file behind, and it is never mistaken for a snapshot.

What was written is brought to the disk all along, by a thread of its own, and then dropped from the page cache. Left to
the kernel, a gigabyte of it costs up to two seconds more, of five (measured: on a virtual machine that gives free
memory back to its host, every fresh page has to be fetched from there), counts as memory of the pod, and is waited for
at the end. Nobody reads the file soon, so nothing is lost.
"""

from __future__ import annotations

import asyncio
import functools
import os
import tempfile
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from io import FileIO
from pathlib import Path

from etcd_operator.etcd.call import Caller
from etcd_operator.etcd.line import MIB
from etcd_operator.etcd.snapshot import Snapshot

STEP = 32 * MIB  # what goes to the disk at once; as much again is written meanwhile, and no more


@dataclass(frozen=True)
class SnapshotFile:
    path: Path
    size: int  # bytes, with the checksum
    sha256: str  # of the database
    version: str  # of the storage, where the server tells it (3.6)


async def save(caller: Caller, path: Path, *, deadline: float, stall: float) -> SnapshotFile:
    part = _part_of(path)
    try:
        consume = functools.partial(write_behind, part)
        async with Snapshot(caller, deadline=deadline, stall=stall, consume=consume) as snapshot:
            async for _ in snapshot:
                pass
        await asyncio.to_thread(_rename, part, path)
    finally:
        await asyncio.to_thread(part.unlink, missing_ok=True)
    return SnapshotFile(path, snapshot.total, snapshot.sha256, snapshot.version)


def write_behind(path: Path, pieces: Iterator[bytes]) -> None:
    """Into a file that is there already. All is on the disk when this ends."""
    with path.open("r+b", buffering=0) as file, ThreadPoolExecutor(1, "etcd-snapshot-disk") as disk:
        syncing: Future[None] | None = None
        ahead = 0
        for piece in pieces:
            _write(file, piece)
            ahead += len(piece)
            if ahead >= STEP:
                if syncing:
                    syncing.result()
                syncing, ahead = disk.submit(_sync, file), 0
        if syncing:
            syncing.result()
        _sync(file)


def _part_of(path: Path) -> Path:
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")  # for its owner alone
    os.close(handle)
    return Path(name)


def _write(file: FileIO, piece: bytes) -> None:
    written = file.write(piece)
    while written < len(piece):  # a disk that is nearly full takes a part; the next attempt says why
        written += file.write(memoryview(piece)[written:])


def _sync(file: FileIO) -> None:
    os.fsync(file.fileno())
    if hasattr(os, "posix_fadvise"):  # Linux
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def _rename(part: Path, path: Path) -> None:
    """And sync the folder: the new name itself may else be lost with the power."""
    part.rename(path)
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
