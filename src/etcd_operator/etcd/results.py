"""What the calls give back: frozen values of our own, so that nothing above knows protobuf.

Where an older server cannot tell something, the field is None, never a zero that looks like a measurement.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable

import msgspec

from etcd_operator.etcd.capabilities import read_version
from etcd_operator.etcd.pb import auth_pb2, kv_pb2
from etcd_operator.etcd.pb import rpc_pb2 as pb
from etcd_operator.releases.capabilities import Capability, can


class Header(msgspec.Struct, frozen=True):
    """Who answered, and where it stood then."""

    cluster_id: int
    member_id: int
    revision: int
    raft_term: int


class Downgrade(msgspec.Struct, frozen=True):
    """Under way, to a version such as `3.5.0`."""

    target: str


class Status(msgspec.Struct, frozen=True):
    """What a member knows about itself; no other member is asked for it."""

    header: Header
    version: str
    db_size: int
    leader: int  # 0: it knows none
    raft_index: int
    raft_term: int
    is_learner: bool
    raft_applied_index: int | None  # from 3.4 on, as the next two
    db_size_in_use: int | None
    errors: tuple[str, ...] | None
    storage_version: str | None  # from 3.6 on, as the next two; empty while it is not settled
    db_size_quota: int | None
    downgrade: Downgrade | None

    @property
    def leads(self) -> bool:
        return self.leader == self.header.member_id


class MemberRecord(msgspec.Struct, frozen=True):
    """A member as the cluster lists it."""

    id: int
    name: str
    peer_urls: tuple[str, ...]
    client_urls: tuple[str, ...]
    is_learner: bool

    @property
    def started(self) -> bool:
        """A member tells the others its name when it starts for the first time."""
        return bool(self.name)


class MemberList(msgspec.Struct, frozen=True):
    header: Header
    members: tuple[MemberRecord, ...]


class MemberAdded(msgspec.Struct, frozen=True):
    header: Header
    member: MemberRecord
    members: tuple[MemberRecord, ...]


class AlarmKind(enum.StrEnum):
    NO_SPACE = "NOSPACE"
    CORRUPT = "CORRUPT"
    UNKNOWN = "unknown"  # of a newer etcd; an alarm all the same


class Alarm(msgspec.Struct, frozen=True):
    member_id: int  # 0: of nobody in particular
    kind: AlarmKind


class Hash(msgspec.Struct, frozen=True):
    """Of the whole database file's content, so it differs between members that hold the same keys."""

    header: Header
    hash: int


class KeyHash(msgspec.Struct, frozen=True):
    """Of the keys up to a revision; comparable between members with the same `compact_revision`."""

    header: Header
    hash: int
    compact_revision: int
    hash_revision: int | None  # from 3.6 on


class KeyValue(msgspec.Struct, frozen=True):
    key: bytes
    value: bytes
    create_revision: int
    mod_revision: int
    version: int
    lease: int


class Lease(msgspec.Struct, frozen=True):
    header: Header
    id: int
    ttl: int


class LeaseLife(msgspec.Struct, frozen=True):
    header: Header
    id: int
    ttl: int  # seconds left
    granted_ttl: int
    keys: tuple[bytes, ...]


class AuthState(msgspec.Struct, frozen=True):
    header: Header
    enabled: bool
    revision: int


class Access(enum.StrEnum):
    READ = "READ"
    WRITE = "WRITE"
    READ_WRITE = "READWRITE"


class Permission(msgspec.Struct, frozen=True):
    access: Access
    key: bytes
    range_end: bytes = b""


def header_of(answer: pb.ResponseHeader) -> Header:
    return Header(answer.cluster_id, answer.member_id, answer.revision, answer.raft_term)


def status_of(answer: pb.StatusResponse) -> Status:
    version = read_version(answer.version)
    detailed = can(version, Capability.STATUS_DETAILS)
    stored = can(version, Capability.STORAGE_STATUS)
    return Status(
        header=header_of(answer.header),
        version=answer.version,
        db_size=answer.dbSize,
        leader=answer.leader,
        raft_index=answer.raftIndex,
        raft_term=answer.raftTerm,
        is_learner=answer.isLearner,
        raft_applied_index=answer.raftAppliedIndex if detailed else None,
        db_size_in_use=answer.dbSizeInUse if detailed else None,
        errors=tuple(answer.errors) if detailed else None,
        storage_version=answer.storageVersion if stored else None,
        db_size_quota=answer.dbSizeQuota if stored else None,
        downgrade=Downgrade(answer.downgradeInfo.targetVersion) if answer.downgradeInfo.enabled else None,
    )


def record_of(member: pb.Member) -> MemberRecord:
    return MemberRecord(
        id=member.ID,
        name=member.name,
        peer_urls=tuple(member.peerURLs),
        client_urls=tuple(member.clientURLs),
        is_learner=member.isLearner,
    )


def records_of(members: Iterable[pb.Member]) -> tuple[MemberRecord, ...]:
    return tuple(record_of(member) for member in members)


ALARM_KINDS = {pb.NOSPACE: AlarmKind.NO_SPACE, pb.CORRUPT: AlarmKind.CORRUPT}


def alarms_of(answer: pb.AlarmResponse) -> tuple[Alarm, ...]:
    return tuple(Alarm(one.memberID, ALARM_KINDS.get(one.alarm, AlarmKind.UNKNOWN)) for one in answer.alarms)


def key_value_of(found: kv_pb2.KeyValue) -> KeyValue:
    return KeyValue(
        key=found.key,
        value=found.value,
        create_revision=found.create_revision,
        mod_revision=found.mod_revision,
        version=found.version,
        lease=found.lease,
    )


def permission_of(found: auth_pb2.Permission) -> Permission:
    return Permission(Access(auth_pb2.Permission.Type.Name(found.permType)), found.key, found.range_end)
