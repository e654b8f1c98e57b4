"""The conditions of a cluster: each says fact, number, consequence and next step, and since when."""

from __future__ import annotations

from dataclasses import dataclass

from etcd_operator.api.cluster import MemberStatus
from etcd_operator.api.condition import Condition
from etcd_operator.plan import wanted
from etcd_operator.plan.birth import born
from etcd_operator.plan.health import healthy, leader, learners, quorum, silent, voters
from etcd_operator.plan.losses import majority_lost, majority_unknown
from etcd_operator.plan.outcome import Outcome
from etcd_operator.plan.view import View
from etcd_operator.plan.wording import answering, count, ended, names, needed, sentence_list

READY_REASONS = {
    "Bootstrap": "Creating",
    "ScaleUp": "ScalingUp",
    "ScaleDown": "ScalingDown",
    "Replace": "ReplacingMember",
    "Roll": "Rolling",
    "Upgrade": "Upgrading",
}


@dataclass(frozen=True)
class Claim:
    """A condition without its times."""

    type: str
    status: bool | None  # None: not known
    reason: str
    message: str


def conditions(view: View, outcome: Outcome, *, members: tuple[MemberStatus, ...]) -> tuple[Condition, ...]:
    claims = [
        _ready(view, outcome, members),
        _available(view, outcome),
        _progressing(view, outcome),
        _degraded(view, members),
        *_space(view),
        _scaling(view, outcome),
        _upgrading(outcome),
        _recovering(outcome),
    ]
    known = {condition.type: condition for condition in view.cluster.status.conditions or ()}
    theirs = [condition for name, condition in known.items() if name in ("BackupHealthy", "CertificatesValid")]
    return tuple(sorted([*theirs, *(_dated(view, claim, known.get(claim.type)) for claim in claims)], key=_by_type))


def _by_type(condition: Condition) -> str:
    return condition.type


def _dated(view: View, claim: Claim, known: Condition | None) -> Condition:
    status = {True: "True", False: "False", None: "Unknown"}[claim.status]
    same = known is not None and known.status == status and known.last_transition_time is not None
    return Condition(
        type=claim.type,
        status=status,
        observed_generation=view.cluster.metadata.generation,
        last_transition_time=known.last_transition_time if known and same else view.now.replace(microsecond=0),
        reason=claim.reason,
        message=claim.message,
    )


def _ready(view: View, outcome: Outcome, members: tuple[MemberStatus, ...]) -> Claim:
    well = sum(bool(member.ready) for member in members)
    reached = view.roster is not None and well == len(view.roster) == wanted.size(view) and not learners(view)
    if reached and not outcome.reason and outcome.operation is None:
        return Claim("Ready", True, "Healthy", f"{count(well, 'member')}, all serving. {_tolerance(well)}")
    under_way = READY_REASONS.get(outcome.operation.name, "Degraded") if outcome.operation else "Degraded"
    return Claim("Ready", False, outcome.reason or under_way, _with_error(view, outcome.why))


def _tolerance(members: int) -> str:
    spare = members - quorum(members)
    return f"The loss of {count(spare, 'member')} does no harm." if spare else "The loss of a member stops writes."


def _available(view: View, outcome: Outcome) -> Claim:
    well = [member for member in voters(view) if healthy(view, member)]
    everybody = len(voters(view))
    if view.roster is not None and leader(view) is not None and len(well) >= quorum(everybody):
        text = f"{answering(len(well), everybody, 'voting member')}, {needed(quorum(everybody))}."
        return Claim("Available", True, "Serving", text)
    if not born(view) and view.roster is None:
        return Claim("Available", False, "NotBootstrapped", outcome.why)
    if unreachable := majority_unknown(view):
        return Claim("Available", None, "Unreachable", unreachable)
    if view.roster is not None and leader(view) is None:
        return Claim("Available", False, "NoLeader", "The members that answer do not agree on a leader.")
    if view.roster is not None:
        text = f"{answering(len(well), everybody, 'voting member')}, {needed(quorum(everybody))}."
        return Claim("Available", False, "QuorumLost", text)
    lost = majority_lost(view)
    return Claim("Available", False, "QuorumLost", lost.why if lost else outcome.why)


def _progressing(view: View, outcome: Outcome) -> Claim:
    if outcome.stalled:
        return Claim("Progressing", False, "Stalled", _with_error(view, outcome.why))
    if outcome.operation is None:
        return Claim("Progressing", False, "Idle", view.last_error or "There is nothing to do.")
    text = f"{outcome.operation.name}: {_with_error(view, outcome.why)}"
    return Claim("Progressing", True, "Working", text)


def _degraded(view: View, members: tuple[MemberStatus, ...]) -> Claim:
    if view.alarms:
        kinds = sentence_list(sorted({alarm.kind for alarm in view.alarms}))
        return Claim("Degraded", True, "AlarmRaised", f"etcd has raised the alarm {kinds}.")
    missing = silent(view, voters(view))
    if missing:
        verb = "does" if len(missing) == 1 else "do"
        text = f"{len(missing)} of {count(len(voters(view)), 'voting member')} {verb} not answer: {names(missing)}."
        return Claim("Degraded", True, "MembersMissing", text)
    ready = sum(bool(member.ready) for member in members)
    if ready < wanted.size(view):
        verb = "serves" if ready == 1 else "serve"
        text = f"{ready} of {count(wanted.size(view), 'member')} wanted {verb}."
        return Claim("Degraded", True, "MembersMissing", text)
    return Claim("Degraded", False, "AllMembersHealthy", "All members that are wanted serve.")


def _space(view: View) -> list[Claim]:
    """Said only when it is known: a quota that is used up raises an alarm."""
    if view.roster is None:
        return []
    full = [alarm for alarm in view.alarms if alarm.kind == "NOSPACE"]
    if not full:
        return []
    text = (
        "The database has used up its quota, and etcd refuses writes. Delete keys, compact, defragment, then run: "
        "etcdctl alarm disarm"
    )
    return [Claim("SpaceAvailable", False, "NoSpaceAlarm", text)]


def _scaling(view: View, outcome: Outcome) -> Claim:
    operation = outcome.operation.name if outcome.operation else ""
    sizes = f"Current size: {len(view.roster or ())}, desired size: {wanted.size(view)}."
    if operation in ("ScaleUp", "Bootstrap"):
        return Claim("Scaling", True, "ScalingUp", sizes)
    if operation == "ScaleDown":
        return Claim("Scaling", True, "ScalingDown", sizes)
    return Claim("Scaling", False, "NotScaling", "")


def _upgrading(outcome: Outcome) -> Claim:
    if outcome.operation and outcome.operation.name == "Upgrade":
        return Claim("Upgrading", True, "ClusterUpgrading", f"Upgrading to {outcome.operation.version}.")
    return Claim("Upgrading", False, "NotUpgrading", "")


def _recovering(outcome: Outcome) -> Claim:
    if outcome.operation and outcome.operation.name == "Replace":
        return Claim("Recovering", True, "ReplacingMember", outcome.why)
    return Claim("Recovering", False, "NotRecovering", "")


def _with_error(view: View, text: str) -> str:
    return f"{text} The last try failed: {ended(view.last_error)}" if view.last_error else text
