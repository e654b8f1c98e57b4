from __future__ import annotations

import pytest

from etcd_operator.etcd import methods
from etcd_operator.etcd.capabilities import read_version, require
from etcd_operator.etcd.errors import UnsupportedError
from etcd_operator.etcd.methods import Method
from etcd_operator.etcd.pb import auth_pb2, rpc_pb2
from etcd_operator.releases.capabilities import TABLE, Capability, Row, can, row_of
from etcd_operator.releases.version import Version

CALLS = [row for row in vars(methods).values() if isinstance(row, Method)]


@pytest.mark.parametrize("text", ["", "Not provided", "main"])
def test_a_server_that_tells_no_version_is_not_supported(text: str) -> None:
    with pytest.raises(UnsupportedError, match="no version"):
        read_version(text)


def test_every_capability_has_exactly_one_row() -> None:
    assert sorted(row.capability.name for row in TABLE) == sorted(capability.name for capability in Capability)


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.capability.name)
def test_a_capability_comes_with_its_version_and_stays(row: Row) -> None:
    assert not can(Version(row.since.major, row.since.minor - 1, 99), row.capability)
    assert can(row.since, row.capability)
    assert can(Version(4, 0), row.capability)


@pytest.mark.parametrize(
    ("version", "lacking"),
    [
        ("3.2.13", set(Capability)),
        (
            "3.3.27",
            set(Capability)
            - {
                Capability.HASH_KV,
                Capability.LEASE_LIST,
                Capability.MOVE_LEADER,
                Capability.CORRUPT_ALARM,
                Capability.METRICS_LISTENER,
            },
        ),
        (
            "3.4.23",
            {
                Capability.LINEARIZABLE_MEMBER_LIST,
                Capability.AUTH_STATUS,
                Capability.DOWNGRADE,
                Capability.SEVERAL_LEARNERS,
                Capability.STORAGE_STATUS,
                Capability.HASH_REVISION,
                Capability.SNAPSHOT_VERSION,
            },
        ),
        (
            "3.5.35",
            {
                Capability.SEVERAL_LEARNERS,
                Capability.STORAGE_STATUS,
                Capability.HASH_REVISION,
                Capability.SNAPSHOT_VERSION,
            },
        ),
        ("3.6.16", set()),
        ("3.7.3", set()),
    ],
)
def test_what_each_version_lacks(version: str, lacking: set[Capability]) -> None:
    assert {capability for capability in Capability if not can(Version.parse(version), capability)} == lacking


def test_a_call_needs_the_capability_that_brought_it() -> None:
    brought = {path: row.capability for row in TABLE for path in row.methods}

    assert {call.path: call.needs for call in CALLS if call.needs} == brought


def test_the_fields_in_the_table_are_fields_that_the_client_knows() -> None:
    named = [field for row in TABLE for field in row.fields]
    known = {
        f"{message.full_name}.{field.name}"
        for file in (rpc_pb2, auth_pb2)
        for message in file.DESCRIPTOR.message_types_by_name.values()
        for field in message.fields
    }
    known |= {f"etcdserverpb.AlarmType.{name}" for name in rpc_pb2.AlarmType.keys()}  # noqa: SIM118 - not a dict

    assert set(named) <= known


def test_the_refusal_says_what_is_missing_and_where_it_came() -> None:
    with pytest.raises(UnsupportedError, match=r"etcd 3\.3\.27 .*do not vote yet.* 3\.4"):
        require(Version.parse("3.3.27"), row_of(Capability.LEARNERS).capability)
