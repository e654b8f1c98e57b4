"""Status, hashes and the way from a full or fragmented database back to a good one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from etcd_operator.etcd.errors import Reason, UnknownOutcomeError
from etcd_operator.etcd.member import Member
from etcd_operator.etcd.pool import Pool
from etcd_operator.etcd.results import Alarm, AlarmKind
from etcd_operator.releases.capabilities import Capability, can
from etcd_operator.releases.version import Version
from tests.etcd.dialling import Dial
from tests.etcd.servers import VERSIONS, Cluster, cluster, release

KIB = 1024
QUOTA = 2048 * KIB


@pytest.fixture(scope="module", params=VERSIONS)
def tight(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """A member with room for 2 MiB."""
    with cluster(request.param, extra=(f"--quota-backend-bytes={QUOTA}",)) as made:
        yield made


async def test_a_status_tells_all_that_its_version_knows(single: Cluster, pool: Pool) -> None:
    member = Dial(pool, single)()
    revision = (await member.put(b"key", b"value")).header.revision

    status = await member.status()

    version = Version.parse(release(single.version))
    detailed, stored = can(version, Capability.STATUS_DETAILS), can(version, Capability.STORAGE_STATUS)
    assert status.version == release(single.version)
    assert status.leads
    assert not status.is_learner
    assert status.header.revision == revision
    assert status.raft_index > 0
    assert status.raft_term == status.header.raft_term > 0
    assert status.db_size > 0
    assert (status.raft_applied_index == status.raft_index) if detailed else status.raft_applied_index is None
    assert (0 < (status.db_size_in_use or 0) <= status.db_size) if detailed else status.db_size_in_use is None
    assert status.errors == (() if detailed else None)
    assert ((status.db_size_quota or 0) > 0) if stored else status.db_size_quota is None
    assert status.storage_version == (f"{single.version}.0" if stored else None)
    assert status.downgrade is None


async def test_a_hash_follows_the_keys(single: Cluster, pool: Pool) -> None:
    member = Dial(pool, single)()
    first = (await member.put(b"key", b"one")).header.revision
    before = await member.hash()
    second = (await member.put(b"key", b"other")).header.revision

    assert (await member.hash()).hash != before.hash
    if can(await member.version(), Capability.HASH_KV):
        assert (await member.hash_kv(first)).hash != (await member.hash_kv(second)).hash
        assert (await member.hash_kv(second)).hash == (await member.hash_kv()).hash


async def test_members_with_the_same_keys_have_the_same_hash_of_them(three: Cluster, pool: Pool) -> None:
    dial = Dial(pool, three)
    if not can(await dial().version(), Capability.HASH_KV):
        return
    revision = (await dial().put(b"key", b"value")).header.revision
    for index in range(3):
        await dial(index).range(b"key")  # makes it catch up

    hashes = [await dial(index).hash_kv(revision) for index in range(3)]

    assert len({found.hash for found in hashes}) == 1
    assert len({found.header.member_id for found in hashes}) == 3
    told = can(await dial().version(), Capability.HASH_REVISION)
    assert {found.hash_revision for found in hashes} == ({revision} if told else {None})


async def fill(member: Member) -> UnknownOutcomeError:
    """Writes until the quota is exceeded."""
    for number in range(100):
        try:
            await member.put(b"large", bytes([number]) * 256 * KIB)
        except UnknownOutcomeError as error:
            return error
    raise AssertionError("a quota of 2 MiB was never exceeded")


async def test_a_full_database_recovers_by_compaction_defragmentation_and_disarming(tight: Cluster, pool: Pool) -> None:
    member = Dial(pool, tight)()
    full = await fill(member)
    assert full.reason is Reason.NO_SPACE
    status = await member.status()
    alarm = Alarm(status.header.member_id, AlarmKind.NO_SPACE)
    assert await member.alarms() == (alarm,)
    with pytest.raises(UnknownOutcomeError) as refusal:
        await member.put(b"small", b"1")
    assert refusal.value.reason is Reason.NO_SPACE
    assert (await member.range(b"small")).count == 0

    await member.compact(status.header.revision)
    await member.defragment()
    assert await member.alarm_disarm(alarm) == (alarm,)

    assert (await member.status()).db_size < status.db_size
    assert await member.alarms() == ()
    assert await member.alarm_disarm(alarm) == ()
    await member.put(b"small", b"1")


async def test_a_full_database_says_so_in_its_status_from_3_4_on(tight: Cluster, pool: Pool) -> None:
    member = Dial(pool, tight)()
    await fill(member)

    errors = (await member.status()).errors

    assert (errors is None) if tight.version < "3.4" else any("NOSPACE" in error for error in errors or ())
