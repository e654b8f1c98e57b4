"""The first member of a cluster, once and never again.

That a cluster lives is written in three places (its status, an annotation on the object, and on the member's pod), as
no single one is safe from a person. While none of them says so, and neither a pod nor a disk is there, nothing can be
lost by starting a seed. The pods of the other members are started beside it: they wait in their guards.
"""

from __future__ import annotations

from etcd_operator.api.cluster import Operation
from etcd_operator.plan import joining, wanted
from etcd_operator.plan.health import marked
from etcd_operator.plan.outcome import SOON, Outcome, wait
from etcd_operator.plan.steps import DeletePod, Start, StartMembers
from etcd_operator.plan.view import Body, Stage, View
from etcd_operator.plan.wording import count, ended, sentence_list
from etcd_operator.releases.version import Version


def born(view: View) -> bool:
    """I8: by any of its records; one is enough, and only if there is none may a first member be started."""
    return view.bootstrapped or bool(view.cluster.status.cluster_id) or bool(marked(view))


def bootstrap(view: View) -> Outcome | None:
    if born(view) or view.roster is not None:
        return None
    operation = wanted.operation(view)
    version = wanted.version(view)
    refusal = wanted.version_refusal(view)
    if version is None or refusal:
        text = (
            refusal.sentence
            if refusal
            else f"spec.version is '{view.cluster.spec.version}', which is no version of etcd."
        )
        return wait(text, operation=None, reason="InvalidSpec", stalled=True, seconds=10)
    if view.problems:
        return wait(view.problems[0].sentence, operation=operation, reason="Creating", stalled=True, seconds=2)
    if operation is None or operation.name != "Bootstrap" or not operation.members:
        return _found(view) or _begin(view, version)
    return (
        _clear(view, operation)
        or _outdated(view, operation, version)
        or _start(view, operation, version)
        or _await(view, operation)
    )


def _found(view: View) -> Outcome | None:
    """Pods or disks of a cluster that nobody has recorded: what may live there is to be found out first."""
    there = sorted({*view.bodies, *view.disks})
    if not there:
        return None
    for name, body in sorted(view.bodies.items()):
        if name not in view.disks and not _has_run(body) and not body.deleting:
            why = f"{name} was to begin this cluster or join it, and which of both is not recorded; deleting its pod."
            return Outcome(step=DeletePod(name, body.uid), why=why, operation=None, reason="Creating")
    what = f"Something of this cluster is there already ({sentence_list(there)})"
    why = f"{what}, and no member answers yet. No first member is started beside it."
    return wait(why, operation=None, reason="Creating", stalled=True)


def _begin(view: View, version: Version) -> Outcome:
    operation = _intent(view, attempt=0)
    return _start(view, operation, version) or _await(view, operation)


def _intent(view: View, *, attempt: int) -> Operation:
    return Operation(
        name="Bootstrap",
        since=view.now.replace(microsecond=0),
        members=wanted.fresh_names(view, wanted.size(view)),
        attempt=attempt,
    )


def _start(view: View, operation: Operation, version: Version) -> Outcome | None:
    seed, *joiners = operation.members or ()
    base = frozenset({seed})
    rest = Operation(name="Bootstrap", members=tuple(joiners), version=str(version))
    starts = [
        Start(
            member=seed,
            version=version,
            peers=wanted.peers(view, base),
            seed=True,
            attempt=operation.attempt or 0,
            on_claim=wanted.on_claims(view),
        ),
        *(
            Start(
                member=name,
                version=version,
                peers=wanted.peers(view, joining.initial_members(view, rest, name, base=base)),
                on_claim=wanted.on_claims(view),
            )
            for name in joiners
        ),
    ]
    missing = tuple(start for start in starts if start.member not in view.bodies)
    if not missing:
        return None
    why = f"Starting {seed} as the first of {count(len(starts), 'member')}, with etcd {version}."
    return Outcome(step=StartMembers(missing), why=why, operation=operation, reason="Creating")


def _clear(view: View, operation: Operation) -> Outcome | None:
    """What an earlier attempt left behind and never ran, or never got as far as to answer."""
    for body in view.bodies.values():
        if body.name not in (operation.members or ()) and not body.deleting and _may_be_dropped(body):
            why = f"{body.name} belongs to an earlier attempt; deleting its pod."
            return Outcome(step=DeletePod(body.name, body.uid), why=why, operation=operation, reason="Creating")
    return None


def _outdated(view: View, operation: Operation, version: Version) -> Outcome | None:
    """Begin anew with other names: the spec has changed, or somebody deletes the first member, and none has lived."""
    bodies = [view.bodies[name] for name in operation.members or () if name in view.bodies]
    if not bodies or not all(_may_be_dropped(body) for body in bodies):
        return None
    image, seed = wanted.image(view, version), view.bodies.get((operation.members or ("",))[0])
    same = all(body.image == image and body.policy == view.policy for body in bodies)
    if same and len(operation.members or ()) == wanted.size(view) and not (seed and seed.deleting):
        return None
    why = "What is asked for has changed, or the first member is being deleted, before any has lived; beginning anew."
    return wait(why, operation=_intent(view, attempt=(operation.attempt or 0) + 1), reason="Creating", seconds=0)


def _has_run(body: Body) -> bool:
    return body.identity is not None or body.stage >= Stage.STARTED


def _may_be_dropped(body: Body) -> bool:
    """No etcd has started, or one that ends again and again; nobody was ever sent there."""
    return not _has_run(body) or (
        body.identity is None and (body.deleting or (bool(body.trouble) and not body.running))
    )


def _await(view: View, operation: Operation) -> Outcome:
    seed, *_ = operation.members or ("",)
    body = view.bodies.get(seed)
    if body is None:
        return wait(f"Waiting for the pod of {seed}.", operation=operation, reason="Creating", seconds=SOON)
    held = body.verdict.sentence if body.verdict else body.trouble
    if held:
        return wait(
            f"The first member, {seed}, does not start: {ended(held)}",
            operation=operation,
            reason="Creating",
            stalled=True,
        )
    return wait(
        f"Waiting for {seed}, the first member, to answer.", operation=operation, reason="Creating", seconds=SOON
    )
