"""What a status says of the past, as far as it can be understood.

It is ours to write, and yet anybody with the right to can edit it, or write one back that another program kept. What is
read from it decides what comes next, so a text that stands where an ID, a version or a time should be is passed over:
the turn must not fail on it, as only the next turn's status can mend it.
"""

from __future__ import annotations

from datetime import UTC, datetime

import msgspec

from etcd_operator.api.cluster import EtcdCluster, MemberStatus, Operation
from etcd_operator.releases.version import NotAVersionError, Version


def recollected(cluster: EtcdCluster) -> EtcdCluster:
    status = cluster.status
    understood = msgspec.structs.replace(
        status,
        cluster_id=status.cluster_id if is_id(status.cluster_id) else None,
        current_version=_version(status.current_version),
        resolved_version=_version(status.resolved_version),
        last_given_up=_time(status.last_given_up),
        operation=_operation(status.operation),
        member_list=tuple(_member(member) for member in status.member_list or ()) or None,
    )
    return msgspec.structs.replace(cluster, status=understood)


def is_id(text: str | None) -> bool:
    """As etcd prints one, in hexadecimal digits."""
    try:
        return int(text or "", 16) > 0
    except ValueError:
        return False


def _member(member: MemberStatus) -> MemberStatus:
    return msgspec.structs.replace(member, version=_version(member.version), silent_since=_time(member.silent_since))


def _operation(operation: Operation | None) -> Operation | None:
    """One that was to lead to no version leads nowhere; what it began is found without it."""
    if operation is None or (operation.version and _version(operation.version) is None):
        return None
    return msgspec.structs.replace(operation, since=_time(operation.since))


def _version(text: str | None) -> str | None:
    try:
        return text if text and Version.parse(text) else None
    except NotAVersionError:
        return None


def _time(at: datetime | None) -> datetime | None:
    """One that names no zone is meant as all others are."""
    return at.replace(tzinfo=UTC) if at is not None and at.tzinfo is None else at
