"""Members in need: those that come back on their disks, a majority that is missing, and those that are replaced."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from etcd_operator.api.cluster import Operation
from etcd_operator.plan import joining, rules, wanted
from etcd_operator.plan.evidence import FATAL, given_up, lost
from etcd_operator.plan.health import answer_of, known, listed, living_body, marked, own, quorum, usable_disk
from etcd_operator.plan.leaving import begin_removal
from etcd_operator.plan.outcome import IDLE, Outcome, wait
from etcd_operator.plan.steps import DeletePod, ReturnMember, Start, StartMembers, Wait
from etcd_operator.plan.view import Disk, Identity, Listed, Stage, View
from etcd_operator.plan.wording import answering, ended, needed, sentence_list
from etcd_operator.releases.capabilities import Capability, can
from etcd_operator.releases.known import DEFAULT
from etcd_operator.releases.version import Version


def bring_back(view: View) -> Outcome | None:
    """The pod of a member whose disk is there; also when no list can be had, as then everybody is needed."""
    operation = wanted.operation(view)
    for name, disk in sorted(view.disks.items()):
        if usable_disk(view, name) is None or not _is_member(view, disk) or _is_going(view, name):
            continue
        body = view.bodies.get(name)
        if body is None:
            start = Start(
                member=name,
                version=_version(view, name),
                peers=wanted.peers(view, _known_members(view) | {name}),
                identity=_identity(view, disk),
                on_claim=True,
            )
            why = f"{name} has its volume and no pod; starting it again."
            return Outcome(step=ReturnMember(start), why=why, operation=operation)
        if body.stage is Stage.ENDED and not body.deleting:
            why = f"The pod of {name} has ended and will not run again; a new one follows, on the same volume."
            return Outcome(step=DeletePod(name, body.uid), why=why, operation=operation)
    return None


def _is_member(view: View, disk: Disk) -> bool:
    """As etcd lists them; while no list can be had, as last known: who was removed long ago must not come back."""
    if view.roster is not None:
        return listed(view, disk.name) is not None
    if disk.identity is None or disk.name in (view.cluster.status.discarded or ()):
        return False
    return not view.cluster.status.member_list or known(view, disk.name) is not None


def _is_going(view: View, name: str) -> bool:
    """On its way out while the others are well: no need to start it for that."""
    operation = wanted.operation(view)
    leaves = operation is not None and operation.name == "ScaleDown" and operation.victim == name
    return leaves and view.roster is not None and len(own(view)) > wanted.size(view)


def start_again_without_quorum(view: View) -> Outcome | None:
    """Where a second voter was added to a first one: from then on both are needed, so it must get its pod.

    Only before 3.4, where there are no learners. It does no harm if it is not listed: its guard waits.
    """
    operation = wanted.operation(view)
    if view.roster is not None or operation is None or can(_lowest(view), Capability.LEARNERS):
        return None
    names = [name for name in joining.joiners(operation) if name not in view.bodies]
    if not names or len(_known_members(view) - {*names}) != 1:
        return None
    start = Start(
        member=names[0],
        version=_lowest(view),
        peers=wanted.peers(view, _known_members(view) | {names[0]}),
        on_claim=wanted.on_claims(view),
    )
    why = f"{names[0]} was about to become the second member and has no pod; starting it again."
    return Outcome(step=StartMembers((start,)), why=why, operation=operation)


def everything_lost(view: View) -> Outcome | None:
    """I8: the cluster has lived, and neither a pod nor a disk is left. Only a person may say that it begins anew."""
    if view.bodies or view.disks:
        return None
    why = (
        "The cluster had data, and none of its pods and volumes is there any more. No empty cluster is started in its "
        f"place. Restore a backup with an EtcdRestore named {view.cluster.metadata.name}, or delete this EtcdCluster."
    )
    return wait(why, operation=None, reason="QuorumLost", stalled=True, seconds=IDLE)


def majority_lost(view: View) -> Outcome | None:
    """I19: nothing is destroyed; who can come back does."""
    if view.roster is not None:
        return None
    operation = wanted.operation(view)
    if unknown := majority_unknown(view):
        return wait(unknown, operation=operation, reason="Unreachable", stalled=True)
    names = sorted(_known_members(view)) or sorted(view.bodies)
    why = (
        f"{answering(sum(answer_of(view, name) is not None for name in names), len(names), 'member')}, "
        f"and none a linearizable read; {needed(quorum(len(names)))}. Writes are refused. {_hope(view, names)}"
    )
    return wait(why, operation=operation, reason="QuorumLost")


def majority_unknown(view: View) -> str:
    """Why it cannot even be said whether the members have a majority; empty if it can."""
    if view.roster is not None:
        return ""
    barred = [problem.sentence for problem in view.problems if problem.reason != "NameTaken"]
    if barred:
        return barred[0]
    if view.alone and not any(answer_of(view, name) for name in view.bodies):
        return "No member answers, as in other clusters, too: it may be the operator that is cut off. It keeps trying."
    return ""


def _hope(view: View, names: list[str]) -> str:
    """Whether what is left can make a majority again."""
    errors = sorted({error for name in names if (said := answer_of(view, name)) for error in said.errors})
    if errors:
        return f"etcd says: {ended('; '.join(errors))}"
    left = [name for name in names if _may_return(view, name)]
    if len(left) >= quorum(len(names)):
        disks = "its disk is" if len(left) == 1 else "their disks are"
        return f"Waiting for {sentence_list(left)} to answer again; {disks} kept."
    return (
        f"Only {len(left)} of {len(names)} still have their disks, so it cannot heal by itself: "
        f"restore a backup with an EtcdRestore named {view.cluster.metadata.name}."
    )


def _may_return(view: View, name: str) -> bool:
    body = living_body(view, name)
    if body is not None and body.verdict is not None and body.verdict.reason in FATAL:
        return False
    return usable_disk(view, name) is not None or (body is not None and body.stage is not Stage.ENDED)


def replace_lost(view: View) -> Outcome | None:
    """I4: out with the lost one first, and a new one in its place, whose pod is started at once.

    Goes before whatever else is under way, as that may be waiting for the one that is lost. Who was joining joins on.
    """
    operation = wanted.operation(view)
    held: Outcome | None = None
    for member, why in _in_need(view, operation):
        if operation is not None and _is_removing(operation, member):
            return None
        refusal = rules.has_leader(view) or rules.removal_keeps_quorum(view, member)
        if refusal is None:
            return _replace(view, member, why)
        held = held or wait(f"{ended(why)} {refusal.sentence}", operation=operation, reason="Degraded")
    return held if operation is None or joining.is_move(operation) else None


def _in_need(view: View, operation: Operation | None) -> Iterator[tuple[Listed, str]]:
    """The lost before the silent, and whose replacement was begun before the others. Learners at work are not meant."""
    joining_now = joining.pending(view, operation) if operation else []
    members = [member for member in view.roster or () if member.name not in joining_now]
    members.sort(key=lambda member: operation is None or member.name != operation.victim)
    yield from ((member, why) for member in members if (why := lost(view, member)))
    if operation is not None and operation.name == "Replace" and listed(view, operation.victim or ""):
        return
    yield from ((member, why) for member in members if (why := given_up(view, member)) and not lost(view, member))


def _is_removing(operation: Operation, member: Listed) -> bool:
    return operation.victim == member.name and operation.name in ("Replace", "ScaleDown")


def _replace(view: View, member: Listed, why: str) -> Outcome:
    """With those who were joining already, and as many more as it takes."""
    underway = wanted.operation(view)
    coming = joining.pending(view, underway) if underway else []
    learning = [name for name in coming if listed(view, name)]
    waiting = [name for name in coming if not listed(view, name)]
    missing = wanted.size(view) - len([other for other in own(view) if other.id != member.id])
    fresh = wanted.fresh_names(view, max(0, missing - len(waiting)))
    members = (*learning, *[*waiting, *fresh][: max(0, missing)])
    if not members:
        operation = begin_removal("ScaleDown", member, view)
        return Outcome(step=Wait(0), why=f"{ended(why)} It is not needed any more.", operation=operation)
    operation = begin_removal("Replace", member, view, members=members)
    takes = "takes" if len(members) == 1 else "take"
    text = f"{ended(why)} {sentence_list(members)} {takes} its place."
    started = joining.start_missing(view, operation)
    return replace(started, why=text) if started else Outcome(step=Wait(0), why=text, operation=operation)


def _identity(view: View, disk: Disk) -> Identity | None:
    """As the claim says, or as the list says and any member knows the cluster by."""
    if disk.identity is not None:
        return disk.identity
    member = listed(view, disk.name)
    answers = [said for each in view.roster or () if (said := answer_of(view, each.name))]
    told = int(view.cluster.status.cluster_id or "0", 16) or next((said.identity.cluster_id for said in answers), 0)
    return Identity(told, member.id) if member is not None and member.started and told else None


def _known_members(view: View) -> frozenset[str]:
    if view.roster is not None:
        return frozenset(member.name for member in view.roster)
    known_by_status = view.cluster.status.member_list or ()
    return frozenset(member.name for member in known_by_status if member.role != "Joining") or marked(view)


def _lowest(view: View) -> Version:
    return wanted.lowest_version(view) or wanted.version(view) or DEFAULT


def _version(view: View, name: str) -> Version:
    """Of a pod that is started again: where it is being moved, else what it ran last, else the highest of the others.

    Its disk may have been written by the highest that runs. One that a lower one wrote can be read by it, too: members
    are never more than one series apart.
    """
    operation, status, before = wanted.operation(view), view.cluster.status, known(view, name)
    if operation is not None and operation.name == "Upgrade" and name in (operation.members or ()):
        return Version.parse(operation.version or str(_lowest(view)))
    if before is not None and before.version:
        return Version.parse(before.version)
    running = [found for body in view.bodies.values() if (found := wanted.running_version(view, body))]
    last = [Version.parse(status.current_version)] if status.current_version else []
    return max([*running, *last], default=None) or wanted.version(view) or DEFAULT
