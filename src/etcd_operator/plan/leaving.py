"""From a voting member to nothing: out of the service, out of the lead, out of the list, then pod and disk.

In this order a crash in between leaves a member that is whole or one that cannot come back, and never a voter without
a body. Disks go last, and by a rung of their own (`tidying`).
"""

from __future__ import annotations

import msgspec

from etcd_operator.api.cluster import Operation
from etcd_operator.plan import joining, rules
from etcd_operator.plan.evidence import lost, silent_for_long
from etcd_operator.plan.health import answer_of, healthy, leader, listed, living_body, own, voters
from etcd_operator.plan.outcome import Outcome, wait
from etcd_operator.plan.refusal import Refusal
from etcd_operator.plan.steps import DeletePod, MoveLeader, RemoveMember
from etcd_operator.plan.view import Listed, View
from etcd_operator.plan.wording import sentence_list
from etcd_operator.releases.capabilities import Capability, can


def strike(view: View, operation: Operation) -> Outcome | None:
    """Out of etcd's list; nothing if the victim is not in it."""
    victim = listed(view, operation.victim or "")
    if victim is None:
        return None
    if refusal := rules.has_leader(view) or rules.removal_keeps_quorum(view, victim) or _early(view, operation, victim):
        return wait(refusal.sentence, operation=operation)
    if moved := hand_over(view, victim, operation=operation):
        return moved
    why = f"Removing {victim.name} from the cluster."
    return Outcome(step=RemoveMember(victim.name, victim.id), why=why, operation=operation)


def _early(view: View, operation: Operation, victim: Listed) -> Refusal | None:
    """Who is lost goes at once, who is silent only for somebody who can take its place, and who is well last of all."""
    if victim.learner or lost(view, victim):
        return None
    if silent_for_long(view, victim):
        return rules.not_alone(view) or _nobody_at_the_door(view, operation)
    return _may_return(victim) if operation.name == "Replace" else rules.everyone_answers(view, but=victim)


def _may_return(victim: Listed) -> Refusal:
    """I18: also of one that was given up once: it has answered since, if only for a moment."""
    return Refusal("MayReturn", f"{victim.name} has not been silent for long; it is waited for before it is removed.")


def _nobody_at_the_door(view: View, operation: Operation) -> Refusal | None:
    """A silent member still has its disk and may return: it is kept if its place could not be taken anyhow."""
    coming = joining.unlisted(view, operation) if operation.name == "Replace" else []
    if not coming or any(joining.waits(view, name) for name in coming):
        return None
    return Refusal(
        "SuccessorNotReady",
        f"{operation.victim} is silent and is removed as soon as the pod of {sentence_list(coming)} can start. "
        f"{joining.patience(view, operation)}",
    )


def hand_over(view: View, member: Listed, *, operation: Operation | None) -> Outcome | None:
    """Leadership to the healthy voter that has come furthest, if this member leads and its version can."""
    leading, answer = leader(view), answer_of(view, member.name)
    if leading is None or leading.id != member.id or answer is None or not can(answer.version, Capability.MOVE_LEADER):
        return None
    heirs = [other for other in voters(view) if other.id != member.id and healthy(view, other)]
    if not heirs:
        return None
    said = {other.name: found for other in heirs if (found := answer_of(view, other.name))}
    best = max(heirs, key=lambda other: (said[other.name].version, said[other.name].applied, other.name))
    return Outcome(
        step=MoveLeader(origin=member.name, to=best.name, to_id=best.id),
        why=f"{member.name} leads and is about to stop; {best.name} takes over first.",
        operation=operation,
    )


def clear_pod(view: View, operation: Operation) -> Outcome | None:
    name = operation.victim or ""
    body = living_body(view, name)
    if body is None or listed(view, name):
        return None
    return Outcome(
        step=DeletePod(name, body.uid), why=f"{name} is no member any more; deleting its pod.", operation=operation
    )


def choose_victim(view: View) -> Listed | None:
    """Learner, then unhealthy, then a follower on the fullest node, then the youngest; the leader last."""
    candidates = own(view)
    if not candidates:
        return None
    leading = leader(view)
    crowd: dict[str, int] = {}
    for member in candidates:
        node = _node(view, member)
        crowd[node] = crowd.get(node, 0) + 1

    def rank(member: Listed) -> tuple[bool, bool, bool, int, str, str]:
        body = view.bodies.get(member.name)
        born = body.created.isoformat() if body and body.created else ""
        leads = leading is not None and leading.id == member.id
        return (member.learner, not healthy(view, member), not leads, crowd[_node(view, member)], born, member.name)

    return max(candidates, key=rank)


def begin_removal(name: str, victim: Listed, view: View, *, members: tuple[str, ...] = ()) -> Operation:
    return Operation(
        name=name,
        since=view.now.replace(microsecond=0),
        victim=victim.name,
        victim_id=f"{victim.id:x}",
        members=members or None,
    )


def with_members(operation: Operation, members: tuple[str, ...]) -> Operation:
    return msgspec.structs.replace(operation, members=members or None)


def _node(view: View, member: Listed) -> str:
    body = view.bodies.get(member.name)
    return body.node if body else ""
