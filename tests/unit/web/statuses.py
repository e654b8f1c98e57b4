"""Clusters as a turn leaves them."""

from __future__ import annotations

from datetime import UTC, datetime

from etcd_operator.api.cluster import ClusterStatus, MemberStatus, Operation
from etcd_operator.api.condition import Condition
from etcd_operator.kube.store import Key

DEMO = Key("default", "demo")


def a_member(name: str, role: str = "Voter", *, ready: bool = True) -> MemberStatus:
    return MemberStatus(name=name, role=role, ready=ready)


def a_status(*members: MemberStatus, generation: int = 1, phase: str = "Running") -> ClusterStatus:
    return ClusterStatus(
        observed_generation=generation,
        phase=phase,
        conditions=(Condition("Ready", "True"), Condition("Degraded", "False")),
        size=len(members),
        members_ready=f"{sum(bool(member.ready) for member in members)}/3",
        member_list=members,
        current_version="3.6.11",
    )


def upgrading(status: ClusterStatus) -> ClusterStatus:
    since = datetime(2026, 11, 15, tzinfo=UTC)
    values = {field: getattr(status, field) for field in status.__struct_fields__}
    return ClusterStatus(**{**values, "target_version": "3.7.2", "operation": Operation(name="Upgrade", since=since)})
