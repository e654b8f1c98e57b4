"""Snapshots: the whole database and its checksum, or an error; never less that looks like all."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from etcd_operator.etcd.errors import CorruptSnapshotError, EtcdError, NoAnswerError
from etcd_operator.etcd.line import Target
from etcd_operator.etcd.member import Member
from etcd_operator.etcd.pool import Pool
from etcd_operator.releases.capabilities import Capability, can
from tests.etcd.dialling import Dial
from tests.etcd.expecting import eventually, output_of
from tests.etcd.filling import MARK, MIB, fill
from tests.etcd.leftovers import no_leftovers
from tests.etcd.relay import relay_to
from tests.etcd.servers import VERSIONS, Cluster, cluster, program


@pytest.fixture(scope="module", params=VERSIONS)
def filled(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    with cluster(request.param) as made:
        yield made


async def save(member: Member, path: Path) -> None:
    with path.open("wb") as file:
        async with member.snapshot() as stream:
            async for piece in stream:
                file.write(piece)


async def test_a_snapshot_is_complete_counted_and_verified(single: Cluster, pool: Pool, scratch: Path) -> None:
    member = Dial(pool, single)()
    await fill(member)
    await eventually(member.status, until=lambda status: status.storage_version != "")  # etcd settles it in seconds
    file = scratch / "snapshot.db"

    with file.open("wb") as out:
        async with member.snapshot() as stream:
            total = stream.total
            async for piece in stream:
                out.write(piece)
                assert stream.received + stream.remaining == total

    saved = file.read_bytes()
    assert len(saved) == stream.received == total > 12 * MIB
    assert stream.remaining == 0
    assert stream.sha256 == hashlib.sha256(saved[:-32]).hexdigest() == saved[-32:].hex()
    told = can(await member.version(), Capability.SNAPSHOT_VERSION)
    assert stream.version.startswith(f"{single.version}." if told else "")
    assert bool(stream.version) == told


async def test_a_saved_snapshot_is_restored_by_the_tools_of_etcd(filled: Cluster, pool: Pool, scratch: Path) -> None:
    await fill(Dial(pool, filled)())
    await save(Dial(pool, filled)(), scratch / "snapshot.db")

    command = ["snapshot", "restore", str(scratch / "snapshot.db"), "--data-dir", str(scratch / "restored")]
    await output_of(program("3.6", "etcdutl"), *command)

    assert (scratch / "restored/member/snap/db").stat().st_size > 12 * MIB


async def test_a_stream_that_is_cut_is_an_error(filled: Cluster, pool: Pool) -> None:
    await fill(Dial(pool, filled)())
    async with relay_to(filled[0].client) as relay:
        relay.cut_after(5 * MIB)
        async with pool.member(Target(relay.address)).snapshot() as stream:
            with pytest.raises(NoAnswerError):
                async for _ in stream:
                    pass

        assert 0 < stream.received < stream.total


async def test_a_stream_that_was_altered_is_corrupt(filled: Cluster, pool: Pool) -> None:
    await fill(Dial(pool, filled)())
    async with relay_to(filled[0].client) as relay:
        relay.alter(lambda piece: piece.replace(MARK, MARK.swapcase(), 1))
        async with pool.member(Target(relay.address)).snapshot() as stream:
            with pytest.raises(CorruptSnapshotError, match="SHA-256"):
                async for _ in stream:
                    pass


async def test_a_server_that_dies_amid_a_stream_is_an_error(pool: Pool) -> None:
    with cluster("3.6") as made:
        await fill(Dial(pool, made)())
        async with Dial(pool, made)().snapshot() as stream:
            await anext(stream)
            made[0].kill()
            with pytest.raises(EtcdError):
                async for _ in stream:
                    pass


async def test_a_stream_that_is_left_early_leaves_nothing_behind(filled: Cluster, pool: Pool) -> None:
    member = Dial(pool, filled)()
    await fill(member)
    async with no_leftovers():
        for pause in (0, 0.3):  # with the server still sending, and with it waiting for us
            async with member.snapshot() as stream:
                await anext(stream)
                await asyncio.sleep(pause)

        assert (await member.status()).leads
