"""The table of what a version can do is true: each row is held against real servers, by requests past the table."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import nullcontext

import grpc
import pytest

from etcd_operator.etcd.errors import UnsupportedError
from etcd_operator.etcd.line import Target
from etcd_operator.etcd.member import Member
from etcd_operator.etcd.pb import auth_pb2
from etcd_operator.etcd.pb import rpc_pb2 as pb
from etcd_operator.etcd.pool import Pool
from etcd_operator.releases.capabilities import TABLE, Capability, can
from etcd_operator.releases.version import Version
from tests.etcd.dialling import Dial
from tests.etcd.raw import raw_to
from tests.etcd.servers import VERSIONS, Cluster, ServerError, cluster, free_port, release

CALLS = tuple((row.capability, method) for row in TABLE for method in row.methods)

# A call of the client for every row that one can ask for.
ASKED: dict[Capability, Callable[[Member], Awaitable[object]]] = {
    Capability.HASH_KV: lambda member: member.hash_kv(),
    Capability.LEASE_LIST: lambda member: member.leases(),
    Capability.MOVE_LEADER: lambda member: member.move_leader(1),
    Capability.LEARNERS: lambda member: member.member_add(["http://127.0.0.1:1"], learner=True),
    Capability.CERTIFICATE_USERS: lambda member: member.user_add("name", None),
    Capability.AUTH_STATUS: lambda member: member.auth_status(),
    Capability.DOWNGRADE: lambda member: member.downgrade_validate("3.1"),
}
MISSING = tuple(
    (version, capability) for version in VERSIONS for capability in ASKED if not can(Version.parse(version), capability)
)


def has(made: Cluster, capability: Capability) -> bool:
    return can(Version.parse(release(made.version)), capability)


@pytest.mark.parametrize(("capability", "method"), CALLS, ids=str)
async def test_a_call_is_there_exactly_where_the_table_says(
    single: Cluster, pool: Pool, capability: Capability, method: str
) -> None:
    async with raw_to(pool, single) as raw:
        code = await raw.code(method)

    assert (code is not grpc.StatusCode.UNIMPLEMENTED) == has(single, capability)


async def test_the_details_of_the_status_are_there_where_the_table_says(single: Cluster, pool: Pool) -> None:
    async with raw_to(pool, single) as raw:
        status = await raw.status()

    assert bool(status.raftAppliedIndex) == has(single, Capability.STATUS_DETAILS)
    assert bool(status.dbSizeInUse) == has(single, Capability.STATUS_DETAILS)
    assert bool(status.dbSizeQuota) == has(single, Capability.STORAGE_STATUS)


async def test_a_hash_tells_its_revision_where_the_table_says(single: Cluster, pool: Pool) -> None:
    await Dial(pool, single)().put(b"hashed", b"value")
    told = False
    if has(single, Capability.HASH_KV):
        async with raw_to(pool, single) as raw:
            answer = await raw("Maintenance/HashKV", pb.HashKVRequest(), pb.HashKVResponse)
            told = bool(answer.hash_revision)

    assert told == has(single, Capability.HASH_REVISION)


async def test_a_snapshot_tells_its_version_where_the_table_says(single: Cluster, pool: Pool) -> None:
    async with raw_to(pool, single) as raw:
        first = await raw.first_piece_of_snapshot()

    assert bool(first.version) == has(single, Capability.SNAPSHOT_VERSION)


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_learner_would_be_a_voter_where_the_table_knows_no_learners(pool: Pool, version: str) -> None:
    with cluster(version) as made:
        async with raw_to(pool, made) as raw:
            request = pb.MemberAddRequest(peerURLs=["http://127.0.0.1:1"], isLearner=True)
            added = (await raw("Cluster/MemberAdd", request, pb.MemberAddResponse)).member

        assert added.isLearner == has(made, Capability.LEARNERS)


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_corruption_alarm_stops_writes_where_the_table_says(pool: Pool, version: str) -> None:
    with cluster(version) as made:
        async with raw_to(pool, made) as raw:
            request = pb.AlarmRequest(action=pb.AlarmRequest.ACTIVATE, alarm=pb.CORRUPT)
            await raw("Maintenance/Alarm", request, pb.AlarmResponse)
            code = await raw.code("etcdserverpb.KV/Put", pb.PutRequest(key=b"key"))

        corrupt = grpc.StatusCode.DATA_LOSS
        assert code is (corrupt if has(made, Capability.CORRUPT_ALARM) else grpc.StatusCode.OK)


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_user_without_a_password_is_none_with_an_empty_one_where_the_table_says(
    pool: Pool, version: str
) -> None:
    with cluster(version) as made:
        async with raw_to(pool, made) as raw:
            options = auth_pb2.UserAddOptions(no_password=True)
            await raw("Auth/UserAdd", pb.AuthUserAddRequest(name="cn", options=options), pb.AuthUserAddResponse)
            await Dial(pool, made)().role_add("root")
            await Dial(pool, made)().user_add("root", "secret")
            await Dial(pool, made)().user_grant("root", "root")
            await Dial(pool, made)().auth_enable()
            logged_in = await raw.code("etcdserverpb.Auth/Authenticate", pb.AuthenticateRequest(name="cn"))

        assert (logged_in is not grpc.StatusCode.OK) == has(made, Capability.CERTIFICATE_USERS)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_listener_for_metrics_is_taken_where_the_table_says(version: str) -> None:
    flag = f"--listen-metrics-urls=http://127.0.0.1:{free_port('127.0.0.1')}"
    known = can(Version.parse(version), Capability.METRICS_LISTENER)
    turned_away = pytest.raises(ServerError, match="listen-metrics-urls")

    with nullcontext() if known else turned_away, cluster(version, extra=(flag,)) as made:
        assert made[0].get("/version") == 200


@pytest.mark.parametrize(("version", "capability"), MISSING, ids=str)
async def test_what_a_version_cannot_do_is_refused_without_a_request(
    pool: Pool, version: str, capability: Capability
) -> None:
    nobody = Target(f"127.0.0.1:{free_port('127.0.0.1')}")

    with pytest.raises(UnsupportedError, match=r"it came with 3\.\d"):
        await ASKED[capability](pool.member(nobody, version=release(version)))

    assert len(pool) <= 1


async def test_a_version_that_was_not_told_is_asked_for(single: Cluster, pool: Pool) -> None:
    missing = [capability for capability in ASKED if not has(single, capability)]

    for capability in missing:
        with pytest.raises(UnsupportedError):
            await ASKED[capability](Dial(pool, single)())

    assert (await Dial(pool, single)().status()).version == release(single.version)
