"""What is kept true beside the steps: services, who members are, whom clients reach, how large claims are."""

from __future__ import annotations

from datetime import timedelta

from etcd_operator.plan import wanted
from etcd_operator.plan.birth import born
from etcd_operator.plan.health import answer_of, healthy, known, listed, quorum, voters
from etcd_operator.plan.steps import (
    Chore,
    DressPod,
    EnsureSurroundings,
    ExpandClaim,
    OpenGate,
    OwnClaim,
    RecordBirth,
    RecordIdentity,
)
from etcd_operator.plan.view import Answer, Body, Listed, View

SILENT = timedelta(seconds=2)


def chores(view: View, *, victim: str | None) -> tuple[Chore, ...]:
    if view.cluster.spec.paused:
        return tuple(_kept(view))
    return (
        *_kept(view),
        *_surroundings(view),
        *_birth(view),
        *_identities(view),
        *_gates(view, victim),
        *_attire(view),
        *_claims(view),
    )


def _surroundings(view: View) -> list[Chore]:
    return [EnsureSurroundings(voters=len(voters(view)))] if view.missing else []


def _birth(view: View) -> list[Chore]:
    cluster_id = known_cluster_id(view)
    return [RecordBirth(cluster_id)] if cluster_id and not view.bootstrapped else []


def known_cluster_id(view: View) -> int:
    """As the status has it, or as a member says that has a quorum with it."""
    recorded = view.cluster.status.cluster_id
    if recorded:
        return int(recorded, 16)
    answers = [answer for answer in view.answers.values() if isinstance(answer, Answer) and answer.linearizable]
    return answers[0].identity.cluster_id if answers and view.roster is not None else 0


def _identities(view: View) -> list[Chore]:
    """Of whoever has answered and is listed; a pod of the old operator is also told what it was made for."""
    found: list[Chore] = []
    for name, body in view.bodies.items():
        answer, member, disk = answer_of(view, name), listed(view, name), view.disks.get(name)
        if answer is None or member is None or member.id != answer.identity.member_id or body.deleting:
            continue
        claim = disk.uid if disk is not None and disk.identity is None and not disk.deleting else ""
        if body.identity is None or body.policy is None or claim:
            policy = view.policy if body.policy is None else ""
            found.append(RecordIdentity(name, body.uid, claim, answer.identity, policy))
    return found


def _gates(view: View, victim: str | None) -> list[Chore]:
    """Open for voters that serve. A silent one is closed only if others serve: else the operator may be cut off."""
    if view.roster is None:
        return []
    others = sum(healthy(view, member) for member in voters(view))
    majority = others >= quorum(len(voters(view)))
    found: list[Chore] = []
    for name, body in view.bodies.items():
        wish = _open(view, body, victim=victim, majority=majority)
        if body.gated and not body.deleting and wish is not None and wish != body.serving:
            found.append(OpenGate(name, body.uid, wish))
    return found


def _open(view: View, body: Body, *, victim: str | None, majority: bool) -> bool | None:
    """Whether clients may be sent there; None: as it is."""
    member = listed(view, body.name)
    if member is None or member.learner or body.name == victim:
        return False
    if healthy(view, member):
        return True if born(view) or known_cluster_id(view) else None
    return False if majority and not view.alone and _silent_long(view, member) else None


def _silent_long(view: View, member: Listed) -> bool:
    before = known(view, member.name)
    return before is not None and before.silent_since is not None and view.now - before.silent_since >= SILENT


def _attire(view: View) -> list[Chore]:
    return [DressPod(name, body.uid) for name, body in view.bodies.items() if body.undressed and not body.deleting]


def _kept(view: View) -> list[Chore]:
    """Claims that are to outlive the cluster, also of a paused or lost one: just then they are worth most."""
    if view.cluster.spec.deletion_policy != "Retain":
        return []
    disks = view.disks.items()
    return [OwnClaim(name, disk.uid, owned=False) for name, disk in disks if disk.owned and not disk.deleting]


def _claims(view: View) -> list[Chore]:
    """A larger request, and whether a member's claim goes down with the cluster again."""
    policy = view.cluster.spec.pod
    spec = policy.persistent_volume_claim_spec if policy else None
    asked = str(((spec or {}).get("resources") or {}).get("requests", {}).get("storage", ""))
    owned = view.cluster.spec.deletion_policy != "Retain"
    found: list[Chore] = []
    for name, disk in view.disks.items():
        if disk.deleting or listed(view, name) is None:
            continue
        if asked and disk.requested and wanted.bytes_of(asked) > wanted.bytes_of(disk.requested):
            found.append(ExpandClaim(name, disk.uid, asked))
        if owned and not disk.owned:
            found.append(OwnClaim(name, disk.uid, owned=True))
    return found
