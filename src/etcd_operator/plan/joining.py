"""From a name to a voting member: pod, list, learner, voter.

The pod comes first and waits in its guard, so that one that finds no node never burdens the cluster. A guard lets etcd
start only when the list is exactly the `--initial-cluster` of its pod; so who joins together must be listed together,
and a pod whose list will never come true is made anew.

Members join together where etcd allows several learners: it refuses a further member for 5 s after each promotion, and
whoever is a learner already need not wait for that.
"""

from __future__ import annotations

from datetime import timedelta

import msgspec

from etcd_operator.api.cluster import Operation
from etcd_operator.plan import rules, wanted
from etcd_operator.plan.health import is_voter, known, listed, living_body, usable_disk
from etcd_operator.plan.outcome import SOON, Outcome, wait
from etcd_operator.plan.pulling import bring_image
from etcd_operator.plan.refusal import Refusal
from etcd_operator.plan.steps import AddMember, DeletePod, PromoteLearner, RemoveMember, Start, StartMembers
from etcd_operator.plan.view import Body, Listed, Stage, View
from etcd_operator.plan.wording import ended, sentence_list
from etcd_operator.releases.capabilities import Capability, can

LEISURE = timedelta(seconds=30)
PATIENCE = timedelta(minutes=10)  # with a learner that does not get on: meanwhile nothing else can be changed


def joiners(operation: Operation) -> tuple[str, ...]:
    """Who is to become a member."""
    return () if is_move(operation) else operation.members or ()


def is_move(operation: Operation) -> bool:
    """Whether those it names are members already, and are only given another form."""
    return operation.name == "Upgrade" or (operation.name == "Roll" and operation.victim is None)


def pending(view: View, operation: Operation) -> list[str]:
    """Who is to join and is no voter yet."""
    return [name for name in joiners(operation) if not is_voter(view, name)]


def unlisted(view: View, operation: Operation) -> list[str]:
    return [name for name in pending(view, operation) if listed(view, name) is None]


def start_missing(view: View, operation: Operation) -> Outcome | None:
    """Pods for all who are to join and have none."""
    if used := _used_up(view, operation):
        return used
    version = wanted.version_for_joiners(view, operation)
    base = standing(view, operation)
    starts = tuple(
        Start(
            member=name,
            version=version,
            peers=wanted.peers(view, initial_members(view, operation, name, base=base)),
            on_claim=wanted.on_claims(view),
        )
        for name in unlisted(view, operation)
        if name not in view.bodies
    )
    if not starts:
        return None
    who = sentence_list([start.member for start in starts])
    return Outcome(step=StartMembers(starts), why=f"Starting {who} with etcd {version}.", operation=operation)


def _used_up(view: View, operation: Operation) -> Outcome | None:
    """A name under which a member has run already and was taken out of the list, by hand: no other may have it."""
    for name in unlisted(view, operation):
        body, disk = view.bodies.get(name), view.disks.get(name)
        ran = body is not None and (body.identity is not None or body.stage is Stage.STARTED)
        if ran or (disk is not None and disk.identity is not None):
            why = f"{name} was a member and is not in etcd's list any more; another member takes its place."
            return wait(why, operation=_renamed(view, operation, name), seconds=0)
    return None


def join(view: View, operation: Operation) -> Outcome | None:
    """The next thing for those who join; nothing if all have."""
    waiting = pending(view, operation)
    if not waiting:
        return None
    stalled = any(stuck(view, name) for name in waiting)
    return (
        _give_up(view, operation)
        or remake(view, operation)
        or _add(view, operation)
        or _promote(view, operation)
        or wait(patience(view, operation), operation=operation, stalled=stalled)
    )


def standing(view: View, operation: Operation) -> frozenset[str]:
    """Who is in the list, but for a lost one that leaves it before anybody joins."""
    first_out = operation.victim if operation.name == "Replace" else None
    return frozenset(member.name for member in view.roster or () if member.name != first_out)


def initial_members(view: View, operation: Operation, name: str, *, base: frozenset[str]) -> frozenset[str]:
    """Whom the pod of a joiner names: those there are, and those that get listed before it or with it."""
    queue = [each for each in unlisted(view, operation) if each == name or not stuck(view, each)]
    slots = rules.learner_slots(view, wanted.version_for_joiners(view, operation))
    before = queue if slots >= len(pending(view, operation)) else queue[: queue.index(name) + 1]
    return base | frozenset(before) | {name}


def stuck(view: View, name: str) -> bool:
    """A pod that does not come as far as to wait in its guard, by no fault of ours."""
    body = living_body(view, name)
    if body is None or listed(view, name) is not None:
        return False
    return body.verdict is not None or (body.stage < Stage.GUARDED and bool(body.trouble))


def waits(view: View, name: str) -> bool:
    """At the door: its guard runs and holds nothing against a start but the list."""
    body = living_body(view, name)
    return body is not None and body.stage is Stage.GUARDED and body.verdict is None


def patience(view: View, operation: Operation) -> str:
    """What is waited for, as a sentence."""
    waiting = pending(view, operation)
    for name in waiting:
        body = living_body(view, name)
        held = (body.verdict.sentence if body.verdict else body.trouble) if body else ""
        if held:
            return f"The pod of {name} does not start: {ended(held)}"
    return f"Waiting for the pod of {sentence_list(waiting)} to start."


def _give_up(view: View, operation: Operation) -> Outcome | None:
    """A learner that will not get on is removed: that is always safe. Another takes its place."""
    for name in pending(view, operation):
        member = listed(view, name)
        why = _hopeless(view, operation, member) if member is not None else ""
        if member is not None and why:
            return Outcome(step=RemoveMember(name, member.id), why=why, operation=_renamed(view, operation, name))
    return None


def _hopeless(view: View, operation: Operation, learner: Listed) -> str:
    name, body = learner.name, living_body(view, learner.name)
    if body is None:
        gone = usable_disk(view, name) is None
        return f"{name} lost its pod before it had joined; another member takes its place." if gone else ""
    if body.verdict is not None:
        return f"{name} cannot join: {ended(body.verdict.sentence)} Another member takes its place."
    if body.stage is Stage.GUARDED and not _still_possible(view, operation, body):
        return f"{name} waits for members that will not be listed any more; another member takes its place."
    if rules.learner_has_caught_up(view, learner) is None:
        return ""
    if not learner.started and body.trouble and _outdated(view, operation, body):
        return f"{name} does not start, and was made for what was asked before; another member takes its place."
    if _slow(view, body):
        minutes = PATIENCE // timedelta(minutes=1)
        return f"{name} has not caught up within {minutes} minutes; another member takes its place."
    return ""


def _slow(view: View, body: Body) -> bool:
    """By how long it has run, or has been silent: how long its pod waited for a node is not its fault."""
    before = known(view, body.name)
    since = before.silent_since if before and before.silent_since else body.running_since
    return since is not None and view.now - since > PATIENCE


def _renamed(view: View, operation: Operation, name: str) -> Operation:
    """With another name in the place of one that is used up."""
    (fresh,) = wanted.fresh_names(view, 1)
    members = tuple(fresh if each == name else each for each in operation.members or ())
    return msgspec.structs.replace(operation, members=members)


def remake(view: View, operation: Operation) -> Outcome | None:
    """A pod that waits for what will never be. It has not run etcd, so its name is as good as new."""
    for name in unlisted(view, operation):
        body = living_body(view, name)
        if body is None:
            continue
        if _outdated(view, operation, body):
            why = f"What is asked of pods has changed since that of {name} was made; it is made anew."
        elif body.joins and not _still_possible(view, operation, body):
            why = f"{name} waits for members that will not be listed any more; its pod is made anew."
        else:
            continue
        return Outcome(step=DeletePod(name, body.uid), why=why, operation=operation)
    return None


def _outdated(view: View, operation: Operation, body: Body) -> bool:
    """Made for another policy; or with an image that does not get on and would not be taken now."""
    image = wanted.image(view, wanted.version_for_joiners(view, operation))
    return body.policy != view.policy or (bool(body.trouble) and body.image != image)


def _still_possible(view: View, operation: Operation, body: Body) -> bool:
    """Whether all whom the pod names are listed or on their way, and nobody else is listed."""
    now = standing(view, operation)
    missing = body.joins - now - {body.name}
    on_their_way = {name for name in unlisted(view, operation) if not stuck(view, name)}
    return now <= body.joins | {body.name} and missing <= on_their_way


def _add(view: View, operation: Operation) -> Outcome | None:
    """The first pod whose guard waits, if those it must be listed with are as far."""
    ready = [name for name in unlisted(view, operation) if waits(view, name)]
    now = standing(view, operation)
    version = wanted.version_for_joiners(view, operation)
    for name in ready:
        if not view.bodies[name].joins - now - {name} <= set(ready):
            continue
        if refusal := rules.gate(view) or rules.room_for_learner(view, version):
            return None if refusal.reason == "LearnersAtWork" else _refused(view, refusal, operation)
        learner = can(version, Capability.LEARNERS)
        if not learner and (brought := bring_image(view, view.bodies[name], view.bodies[name].image, operation)):
            return brought
        kind = "a learner" if learner else "a voting member"
        step = AddMember(member=name, peer_url=wanted.own_url(view, name), learner=learner)
        return Outcome(step=step, why=f"The pod of {name} is ready to start; adding it as {kind}.", operation=operation)
    return None


def _promote(view: View, operation: Operation) -> Outcome | None:
    refusals: list[Refusal] = []
    for member in _learners(view, operation):
        refusal = (
            rules.gate(view)
            or rules.learner_has_caught_up(view, member)
            or rules.learner_is_known(view, member)
            or rules.learner_stays(view, member)
        )
        if refusal is None:
            why = f"{member.name} has caught up; making it a voting member."
            return Outcome(step=PromoteLearner(member.name, member.id), why=why, operation=operation)
        refusals.append(refusal)
    return _refused(view, refusals[0], operation) if refusals else None


def _learners(view: View, operation: Operation) -> list[Listed]:
    found = [listed(view, name) for name in pending(view, operation)]
    return [member for member in found if member is not None and member.learner]


def _refused(view: View, refusal: Refusal, operation: Operation) -> Outcome:
    """No event tells when a learner answers or has caught up, so it is asked often; but not if it takes its time."""
    fast = refusal.reason in ("LearnerSilent", "LearnerLags", "IdentityNotRecorded", "NoLeader")
    patient = any(_silent_for(view, name) > LEISURE for name in pending(view, operation))
    return wait(refusal.sentence, operation=operation, seconds=SOON if fast and not patient else None)


def _silent_for(view: View, name: str) -> timedelta:
    before = known(view, name)
    return view.now - before.silent_since if before and before.silent_since else timedelta(0)
