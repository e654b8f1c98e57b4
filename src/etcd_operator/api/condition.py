"""Conditions: their shape on the wire, and the table of what each one says.

The old operator wrote conditions with a `lastUpdateTime` and reasons with blanks in them, and such objects are still
stored; so the schema asks for nothing but a type. What we write follows the Kubernetes convention, with
`observedGeneration`: only then does `kubectl wait` tell the truth right after a change.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from etcd_operator.api.field import Field
from etcd_operator.api.stored import Part


class Condition(Part, frozen=True):
    """One thing that is so, is not so, or is not known."""

    type: Annotated[str, Field(text="What the condition is about, such as Ready.")]
    status: Annotated[str | None, Field(text="True, False or Unknown.")] = None
    observed_generation: Annotated[
        int | None, Field(text="The generation of the object that the condition is about.")
    ] = None
    last_transition_time: Annotated[datetime | None, Field(text="When the status last changed.")] = None
    reason: Annotated[str | None, Field(text="One word for why it is so, for programs.")] = None
    message: Annotated[str | None, Field(text="A sentence on why it is so and what comes next, for people.")] = None
    last_update_time: Annotated[
        datetime | None, Field(text="Written by operators before this one; not used any more.")
    ] = None


@dataclass(frozen=True)
class Meaning:
    """What a type of condition says, and the reasons it can have, each with what it means."""

    type: str
    true: str
    reasons: Mapping[str, str]


CLUSTER_CONDITIONS: tuple[Meaning, ...] = (
    Meaning(
        "Ready",
        "the spec is reached, and the cluster serves reads and writes",
        {
            "Healthy": "all is as it should be",
            "Creating": "the first member is being started",
            "ScalingUp": "members are being added",
            "ScalingDown": "members are being removed",
            "Upgrading": "members are being moved to another version of etcd",
            "Rolling": "members get new pods, one at a time, as what is asked of pods has changed",
            "Restoring": "the cluster is being rebuilt from a backup",
            "ReplacingMember": "a member that is lost or was silent for too long is being replaced",
            "Degraded": "the cluster serves, but a member is missing or unwell",
            "QuorumLost": "too few members answer; nothing can be written",
            "Unreachable": "the operator cannot reach the members, so how they are is not known",
            "Paused": "spec.paused is set, and the operator does nothing",
            "InvalidSpec": "the spec asks for something that cannot be; the members stay as they are",
        },
    ),
    Meaning(
        "Available",
        "a quorum answers linearizable reads",
        {
            "Serving": "a quorum answers",
            "QuorumLost": "too few members answer",
            "NoLeader": "the members that answer have no leader",
            "NotBootstrapped": "the first member has not started yet",
            "Unreachable": "the operator cannot reach any member; clients perhaps can",
        },
    ),
    Meaning(
        "Progressing",
        "an operation is under way; the message names it and its step",
        {
            "Working": "steps are being taken",
            "Idle": "there is nothing to do",
            "Stalled": "the operation waits for something that the message names",
        },
    ),
    Meaning(
        "Degraded",
        "the cluster serves with fewer members than wanted, with alarms or with a member that lags",
        {
            "MembersMissing": "fewer members answer than are wanted",
            "AlarmRaised": "etcd has raised an alarm",
            "MemberLags": "a member is far behind the leader",
            "AllMembersHealthy": "nothing is amiss",
        },
    ),
    Meaning(
        "BackupHealthy",
        "the newest good backup is as young as its schedule promises",
        {
            "Fresh": "the newest backup is young enough",
            "NoSchedule": "no periodic backup names this cluster",
            "TooOld": "the newest good backup is older than two intervals",
            "LastAttemptFailed": "the last try failed; an older backup is there",
        },
    ),
    Meaning(
        "CertificatesValid",
        "no certificate expires soon",
        {
            "Valid": "all certificates are good for a while",
            "ExpiringSoon": "a certificate must be renewed soon",
            "Expired": "a certificate is no longer valid",
            "Mismatch": "a certificate does not fit its key, its authority or the cluster's names",
        },
    ),
    Meaning(
        "SpaceAvailable",
        "the database is below 80 % of its quota and the disk below 85 %",
        {
            "Enough": "there is room",
            "QuotaNearlyFull": "the database is close to its quota",
            "NoSpaceAlarm": "the quota is used up, and etcd refuses writes",
            "VolumeNearlyFull": "the volume is close to full",
        },
    ),
    Meaning(
        "Scaling",
        "members are being added or removed; kept for readers of the old operator's status",
        {
            "ScalingUp": "members are being added",
            "ScalingDown": "members are being removed",
            "NotScaling": "there are as many members as wanted, or something else comes first",
        },
    ),
    Meaning(
        "Upgrading",
        "members are being upgraded; kept for readers of the old operator's status",
        {
            "ClusterUpgrading": "members are being moved to the version that the message names",
            "NotUpgrading": "no member is being moved to another version",
        },
    ),
    Meaning(
        "Recovering",
        "a lost member is being replaced; kept for the same readers",
        {
            "ReplacingMember": "a new member takes the place of one that is lost",
            "NotRecovering": "no member is being replaced",
        },
    ),
)

BACKUP_CONDITIONS: tuple[Meaning, ...] = (
    Meaning(
        "Succeeded",
        "the newest try stored a backup and checked it",
        {
            "Stored": "the backup is stored and checked",
            "Waiting": "no try was made yet",
            "Failed": "the try failed; the message says at what, and when the next one is",
        },
    ),
)

RESTORE_CONDITIONS: tuple[Meaning, ...] = (
    Meaning(
        "Succeeded",
        "the cluster runs with the data of the backup",
        {
            "Restored": "all steps are done",
            "Working": "steps are being taken",
            "Failed": "a step failed; the message says which, and what is left untouched",
        },
    ),
)
