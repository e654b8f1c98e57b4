"""What each version of etcd can do, from 3.2 on: asked before a call is made, never found out by trying.

Trying is not harmless: a server ignores a field that it does not know, so 3.3 would add a voter where a learner was
meant. Each row names the calls and the fields that came with it; the tests hold them against etcd's own descriptors and
against real servers of every minor version.

A capability is that of the server's program. In the middle of an upgrade the other members may still be older.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

from etcd_operator.releases.version import Version


class Capability(enum.Enum):
    HASH_KV = "a hash of the keys at a revision"
    LEASE_LIST = "listing the leases"
    MOVE_LEADER = "moving the leader"
    CORRUPT_ALARM = "an alarm for a corrupt member"
    METRICS_LISTENER = "a listener of its own for metrics and health"
    LEARNERS = "members that do not vote yet"
    STATUS_DETAILS = "applied index, errors and size in use in the status"
    CERTIFICATE_USERS = "users without a password"
    LINEARIZABLE_MEMBER_LIST = "a member list that is known to be current"
    AUTH_STATUS = "telling whether authentication is on"
    DOWNGRADE = "going back to the minor version before"
    SEVERAL_LEARNERS = "more than one member at once that does not vote yet"
    STORAGE_STATUS = "storage version, quota and downgrade in the status"
    HASH_REVISION = "the revision that a hash was made at"
    SNAPSHOT_VERSION = "the storage version of a snapshot"


@dataclass(frozen=True)
class Row:
    capability: Capability
    since: Version
    methods: tuple[str, ...] = ()  # as in a request's path
    fields: tuple[str, ...] = ()  # of messages and enums, by full name


TABLE: tuple[Row, ...] = (
    Row(Capability.HASH_KV, Version(3, 3), methods=("etcdserverpb.Maintenance/HashKV",)),
    Row(Capability.LEASE_LIST, Version(3, 3), methods=("etcdserverpb.Lease/LeaseLeases",)),
    Row(Capability.MOVE_LEADER, Version(3, 3), methods=("etcdserverpb.Maintenance/MoveLeader",)),
    Row(Capability.CORRUPT_ALARM, Version(3, 3), fields=("etcdserverpb.AlarmType.CORRUPT",)),
    Row(Capability.METRICS_LISTENER, Version(3, 3)),
    Row(
        Capability.LEARNERS,
        Version(3, 4),
        methods=("etcdserverpb.Cluster/MemberPromote",),
        fields=(
            "etcdserverpb.Member.isLearner",
            "etcdserverpb.MemberAddRequest.isLearner",
            "etcdserverpb.StatusResponse.isLearner",
        ),
    ),
    Row(
        Capability.STATUS_DETAILS,
        Version(3, 4),
        fields=(
            "etcdserverpb.StatusResponse.raftAppliedIndex",
            "etcdserverpb.StatusResponse.errors",
            "etcdserverpb.StatusResponse.dbSizeInUse",
        ),
    ),
    Row(
        Capability.CERTIFICATE_USERS,
        Version(3, 4),
        fields=("etcdserverpb.AuthUserAddRequest.options", "authpb.UserAddOptions.no_password"),
    ),
    Row(
        Capability.LINEARIZABLE_MEMBER_LIST,
        Version(3, 5),
        fields=("etcdserverpb.MemberListRequest.linearizable",),
    ),
    Row(Capability.AUTH_STATUS, Version(3, 5), methods=("etcdserverpb.Auth/AuthStatus",)),
    Row(Capability.DOWNGRADE, Version(3, 5), methods=("etcdserverpb.Maintenance/Downgrade",)),
    Row(Capability.SEVERAL_LEARNERS, Version(3, 6)),
    Row(
        Capability.STORAGE_STATUS,
        Version(3, 6),
        fields=(
            "etcdserverpb.StatusResponse.storageVersion",
            "etcdserverpb.StatusResponse.dbSizeQuota",
            "etcdserverpb.StatusResponse.downgradeInfo",
            "etcdserverpb.DowngradeInfo.enabled",
            "etcdserverpb.DowngradeInfo.targetVersion",
        ),
    ),
    Row(Capability.HASH_REVISION, Version(3, 6), fields=("etcdserverpb.HashKVResponse.hash_revision",)),
    Row(Capability.SNAPSHOT_VERSION, Version(3, 6), fields=("etcdserverpb.SnapshotResponse.version",)),
)


def row_of(capability: Capability) -> Row:
    return next(row for row in TABLE if row.capability is capability)


def can(version: Version, capability: Capability) -> bool:
    return version >= row_of(capability).since
