"""Another image or another pod policy, brought to one member at a time.

Followers first and the leader last, after it has handed over; each must be well, and have been for a while, before the
next is touched. On a claim a pod is deleted and comes back on its disk. Without one, a new image is run in the same
pod, and for everything else a new member takes the old one's place: the disk would go with the pod.

Whose turn it is stands in the operation, so that a pod that was stopped for a change comes back changed, and one that
was lost meanwhile comes back as it was.
"""

from __future__ import annotations

from datetime import timedelta

import msgspec

from etcd_operator.api.cluster import Operation
from etcd_operator.plan import joining, leaving, rules, wanted
from etcd_operator.plan.health import healthy, leader, listed, living_body, usable_disk, voters
from etcd_operator.plan.outcome import SOON, Outcome, wait
from etcd_operator.plan.refusal import Refusal
from etcd_operator.plan.steps import DeletePod, Start, StartMembers
from etcd_operator.plan.view import Body, Listed, View
from etcd_operator.releases.version import Version

SETTLE = timedelta(seconds=5)  # etcd itself counts a peer as connected only after so long


def roll_pods(view: View) -> Outcome | None:
    """Members whose pods were made for another policy than is asked for now."""
    due = in_turn(view, [member for member in voters(view) if _outdated(view, member.name)])
    if not due:
        return None
    operation = continued(view, "Roll")
    if refusal := may_stop(view, due[0]):
        return wait(refusal.sentence, operation=operation, reason="Rolling", seconds=pause(refusal))
    first = due[0]
    if not usable_disk(view, first.name):
        return successor(view, first, version=None, reason="Rolling")
    why = f"{first.name} gets a new pod on its volume: what is asked of pods has changed."
    return leaving.hand_over(view, first, operation=operation) or Outcome(
        step=DeletePod(first.name, view.bodies[first.name].uid),
        why=why,
        operation=with_turn(operation, first),
        reason="Rolling",
    )


def finish_roll(view: View, operation: Operation) -> Outcome | None:
    """In with the new member, out with the old one; called off while nobody has joined and the old one is as wanted."""
    victim = listed(view, operation.victim or "")
    joined = [name for name in joining.joiners(operation) if listed(view, name)]
    if victim is not None and not joined and not _to_be_succeeded(view, victim, operation):
        return None
    return (
        joining.start_missing(view, operation)
        or joining.join(view, operation)
        or leaving.strike(view, operation)
        or leaving.clear_pod(view, operation)
    )


def _to_be_succeeded(view: View, victim: Listed, operation: Operation) -> bool:
    body = view.bodies.get(victim.name)
    if body is None or operation.version is None:
        return body is None or _outdated(view, victim.name)
    return str(body.version) != operation.version == str(wanted.version(view))


def _outdated(view: View, name: str) -> bool:
    """Not a pod of the old operator: what that was made for is not known, and it is taken as it is."""
    body = view.bodies.get(name)
    return body is not None and body.policy is not None and body.policy != view.policy


def in_turn(view: View, members: list[Listed]) -> list[Listed]:
    """Who is unwell first, as it has nothing to lose, and the leader last."""
    leading = leader(view)
    return sorted(
        members,
        key=lambda member: (healthy(view, member), leading is not None and member.id == leading.id, member.name),
    )


def may_stop(view: View, member: Listed) -> Refusal | None:
    """I12: everybody else is well and has been for a while, and it is not stopping already."""
    return (
        rules.has_leader(view)
        or rules.nobody_else(view)
        or rules.everyone_answers(view, but=member)
        or rules.no_alarm(view)
        or _stopping(view, member)
        or _settled(view)
    )


def pause(refusal: Refusal) -> float | None:
    """Nothing tells when a member has settled; what a member is silent for takes longer."""
    return SOON if refusal.reason in ("Settling", "Stopping") else None


def _stopping(view: View, member: Listed) -> Refusal | None:
    if living_body(view, member.name) is not None:
        return None
    return Refusal("Stopping", f"Waiting for the pod of {member.name} to be gone.")


def _settled(view: View) -> Refusal | None:
    for member in voters(view):
        body = view.bodies.get(member.name)
        if body and body.running_since and timedelta(0) <= view.now - body.running_since < SETTLE:
            return Refusal("Settling", f"{member.name} has just come up; the next member follows in a moment.")
    return None


def continued(view: View, name: str, *, version: str | None = None) -> Operation:
    """The operation of this name, if it is the one under way, or a new one."""
    known = wanted.operation(view)
    if known is not None and known.name == name and known.version == version and known.victim is None:
        return known
    return Operation(name=name, since=view.now.replace(microsecond=0), version=version)


def with_turn(operation: Operation, member: Listed) -> Operation:
    return msgspec.structs.replace(operation, members=(member.name,))


def successor(view: View, member: Listed, *, version: Version | None, reason: str) -> Outcome:
    """A new member in the place of a healthy one: in first, out after."""
    (fresh,) = wanted.fresh_names(view, 1)
    operation = msgspec.structs.replace(
        leaving.begin_removal("Roll", member, view, members=(fresh,)), version=str(version) if version else None
    )
    start = Start(
        member=fresh,
        version=wanted.version_for_joiners(view, operation),
        peers=wanted.peers(view, joining.standing(view, operation) | {fresh}),
        on_claim=wanted.on_claims(view),
    )
    why = f"{fresh} is to take the place of {member.name}, whose pod cannot be changed and whose disk goes with it."
    return Outcome(step=StartMembers((start,)), why=why, operation=operation, reason=reason)


def is_due(view: View, body: Body, version: Version) -> bool:
    """Whether a pod is to get another image. One that does not restart by itself is only replaced for a version."""
    return body.version != version or (body.image != wanted.image(view, version) and body.restarts_itself)
