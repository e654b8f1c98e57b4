"""The events of a cluster: the table of their reasons, for readers and for alerts. The note of each tells the rest."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class EventMeaning:
    reason: str
    text: str
    warning: bool = False


CLUSTER_EVENTS: tuple[EventMeaning, ...] = (
    # Steps that were taken.
    EventMeaning("MemberStarting", "the pod of a new member was created; it waits until etcd lists it"),
    EventMeaning("MemberReturning", "a member that had lost its pod got a new one, on its own volume"),
    EventMeaning("MemberAdded", "a member was entered into etcd's list, without a vote where the version allows"),
    EventMeaning("LearnerPromoted", "a member that had caught up got its vote"),
    EventMeaning("MemberRemoved", "a member was struck from etcd's list, for good"),
    EventMeaning("PodDeleted", "a pod was deleted: of nobody any more, or of a member that comes back on its volume"),
    EventMeaning("ClaimDeleted", "the volume claim of a member that was removed, or never ran, was deleted"),
    EventMeaning("LeaderMoved", "leadership was handed over before the leader is stopped"),
    EventMeaning("MemberUpgrading", "a member is given another image in its pod, a newer one or the one of before"),
    EventMeaning("RaftSnapshotsSaved", "every member was made to save a raft snapshot before an upgrade that needs it"),
    # Changes that were seen.
    EventMeaning("QuorumLost", "too few members answer; writes are refused", warning=True),
    EventMeaning("QuorumRestored", "a majority answers again"),
    EventMeaning("MemberUnhealthy", "a member that served does not answer, and nobody stopped it", warning=True),
    EventMeaning("MemberReplaced", "a lost member was replaced"),
    EventMeaning("UpgradeStarted", "members are being moved to another version"),
    EventMeaning("UpgradeFinished", "all members run the version that they were being moved to"),
    EventMeaning("UpgradeBlocked", "the version asked for cannot follow the one that runs", warning=True),
    EventMeaning("InvalidSpec", "the spec asks for something that cannot be", warning=True),
    EventMeaning("Paused", "spec.paused was set"),
    EventMeaning("Resumed", "spec.paused was taken back"),
    EventMeaning("AlarmRaised", "etcd has raised an alarm", warning=True),
    EventMeaning("AlarmCleared", "no alarm of etcd is raised any more"),
)
