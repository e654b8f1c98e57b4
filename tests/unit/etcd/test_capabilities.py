from __future__ import annotations

import pytest

from etcd_operator.etcd import methods
from etcd_operator.etcd.capabilities import TABLE, Capability, Row, Version, can, require, row_of
from etcd_operator.etcd.errors import UnsupportedError
from etcd_operator.etcd.methods import Method
from etcd_operator.etcd.pb import auth_pb2, rpc_pb2

CALLS = [row for row in vars(methods).values() if isinstance(row, Method)]


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("3.2.13", (3, 2, 13)),
        ("3.6", (3, 6, 0)),
        ("v3.5.1", (3, 5, 1)),
        ("3.7.0-rc.1", (3, 7, 0)),
        ("10.0.2", (10, 0, 2)),
    ],
)
def test_a_version_is_read(text: str, version: tuple[int, int, int]) -> None:
    assert Version.parse(text) == version


@pytest.mark.parametrize("text", ["", "3", "latest", "3.x", "3.5.1.2"])
def test_what_is_no_version_is_refused(text: str) -> None:
    with pytest.raises(UnsupportedError, match="no version"):
        Version.parse(text)


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
                Capability.STORAGE_STATUS,
                Capability.HASH_REVISION,
                Capability.SNAPSHOT_VERSION,
            },
        ),
        ("3.5.35", {Capability.STORAGE_STATUS, Capability.HASH_REVISION, Capability.SNAPSHOT_VERSION}),
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
