"""What changed from one status to the next and is worth an event of its own; steps are told apart from this."""

from __future__ import annotations

from etcd_operator.api.cluster import ClusterStatus
from etcd_operator.api.condition import Condition
from etcd_operator.plan.decision import Announcement


def announcements(before: ClusterStatus, after: ClusterStatus) -> tuple[Announcement, ...]:
    return (
        *_quorum(before, after),
        *_pause(before, after),
        *_upgrade(before, after),
        *_replacement(before, after),
        *_spec(before, after),
        *_members(before, after),
        *_alarms(before, after),
    )


def _condition(status: ClusterStatus, name: str) -> Condition:
    return next((each for each in status.conditions or () if each.type == name), Condition(type=name))


def _quorum(before: ClusterStatus, after: ClusterStatus) -> list[Announcement]:
    old, new = _condition(before, "Available"), _condition(after, "Available")
    if new.reason == "QuorumLost" != old.reason and before.cluster_id:
        return [Announcement("QuorumLost", new.message or "", warning=True)]
    if old.reason == "QuorumLost" and new.status == "True":
        return [Announcement("QuorumRestored", new.message or "")]
    return []


def _pause(before: ClusterStatus, after: ClusterStatus) -> list[Announcement]:
    if bool(before.control_paused) == bool(after.control_paused):
        return []
    if after.control_paused:
        return [Announcement("Paused", "The operator leaves the cluster alone while spec.paused is set.")]
    return [Announcement("Resumed", "The operator looks after the cluster again.")]


def _upgrade(before: ClusterStatus, after: ClusterStatus) -> list[Announcement]:
    if after.target_version and after.target_version != before.target_version:
        return [
            Announcement(
                "UpgradeStarted",
                f"From etcd {after.current_version or 'an unknown version'} to {after.target_version}.",
            )
        ]
    if before.target_version and not after.target_version and after.current_version == before.target_version:
        return [Announcement("UpgradeFinished", f"All members run etcd {after.current_version}.")]
    return []


def _replacement(before: ClusterStatus, after: ClusterStatus) -> list[Announcement]:
    old, new = before.operation, after.operation
    if old is not None and old.name == "Replace" and new is None and not _listed(after, old.victim):
        return [
            Announcement("MemberReplaced", f"{old.victim} was replaced by {', '.join(old.members or ()) or 'nobody'}.")
        ]
    return []


def _listed(status: ClusterStatus, name: str | None) -> bool:
    return any(member.name == name for member in status.member_list or ())


def _spec(before: ClusterStatus, after: ClusterStatus) -> list[Announcement]:
    old, new = _condition(before, "Ready"), _condition(after, "Ready")
    if new.reason != "InvalidSpec" or (old.reason == new.reason and old.message == new.message):
        return []
    reason = "UpgradeBlocked" if after.cluster_id else "InvalidSpec"
    return [Announcement(reason, new.message or "", warning=True)]


def _members(before: ClusterStatus, after: ClusterStatus) -> list[Announcement]:
    """Silent since this very turn; a member that is new is not silent but starting."""
    known = {member.name: member for member in before.member_list or ()}
    return [
        Announcement("MemberUnhealthy", f"{member.name} does not answer. {member.message or ''}".rstrip(), warning=True)
        for member in after.member_list or ()
        if member.silent_since
        and member.name in known
        and known[member.name].ready
        and not known[member.name].silent_since
        and not _meant(after, member.name)
    ]


def _meant(status: ClusterStatus, name: str) -> bool:
    """Stopped by the operator itself."""
    operation = status.operation
    return operation is not None and name in (operation.victim, *(operation.members or ()))


def _alarms(before: ClusterStatus, after: ClusterStatus) -> list[Announcement]:
    old, new = _condition(before, "Degraded"), _condition(after, "Degraded")
    if new.reason == "AlarmRaised" != old.reason:
        return [Announcement("AlarmRaised", new.message or "", warning=True)]
    if old.reason == "AlarmRaised" != new.reason:
        return [Announcement("AlarmCleared", "No alarm of etcd is raised any more.")]
    return []
