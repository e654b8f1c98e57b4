"""What is there and belongs to nothing that goes on: learners nobody wants, pods that are no members, claims.

Judged only by a linearizable list. A claim that a member has run on is deleted only if the operator itself removed the
member, which is noted in the status before it is done. It may be the last copy of something else.
"""

from __future__ import annotations

from etcd_operator.plan import joining, rules, wanted
from etcd_operator.plan.health import listed
from etcd_operator.plan.outcome import Outcome
from etcd_operator.plan.steps import DeleteClaim, DeletePod, RemoveMember
from etcd_operator.plan.view import View


def discarded(view: View) -> tuple[str, ...]:
    return view.cluster.status.discarded or ()


def unwanted_learners(view: View) -> Outcome | None:
    """Whose removal was begun, and the operator was killed or the call was lost."""
    operation = wanted.operation(view)
    joining_now = joining.pending(view, operation) if operation else []
    for name in discarded(view):
        member = listed(view, name)
        if member is not None and member.learner and name not in joining_now and not rules.has_leader(view):
            why = f"{name} is not to become a voting member any more; removing it."
            return Outcome(step=RemoveMember(name, member.id), why=why, operation=operation)
    return None


def strays(view: View) -> Outcome | None:
    if view.roster is None:
        return None
    operation = wanted.operation(view)
    kept = {*joining.joiners(operation), operation.victim} if operation else set()
    for name, body in sorted(view.bodies.items()):
        if name in kept or body.deleting or listed(view, name):
            continue
        why = f"{name} is not in etcd's list of members; deleting its pod."
        if name in view.disks and body.identity is not None and name not in discarded(view):
            why = f"{name} was removed from etcd's list of members; deleting its pod. Its volume claim is kept."
        return Outcome(step=DeletePod(name, body.uid), why=why, operation=operation)
    for name, disk in sorted(view.disks.items()):
        if name in kept or disk.deleting or disk.identity is not None or listed(view, name) or name in view.bodies:
            continue
        why = f"No member ever ran on the claim of {name}; deleting it."
        return Outcome(step=DeleteClaim(name, disk.uid), why=why, operation=operation)
    return None


def claims_of_discarded(view: View) -> Outcome | None:
    """I16: of who was removed on purpose, while all who are there are well. Until then it is one copy more."""
    for name in discarded(view):
        disk = view.disks.get(name)
        if disk is None or disk.deleting or listed(view, name) or rules.gate(view):
            continue
        why = f"{name} was removed and all other members are well; deleting its volume claim."
        return Outcome(step=DeleteClaim(name, disk.uid), why=why, operation=wanted.operation(view))
    return None
