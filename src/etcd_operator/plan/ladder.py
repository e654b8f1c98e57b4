"""What comes next for a cluster: the most urgent first, one step at a time.

Every behaviour of the operator starts from here. Nothing in it does input or output, reads a clock or remembers
anything: an operator that is killed anywhere goes on from what it sees.
"""

from __future__ import annotations

from dataclasses import replace

import msgspec

from etcd_operator.api.cluster import Operation
from etcd_operator.plan import joining, leaving, rules, tidying, wanted
from etcd_operator.plan.announcements import announcements
from etcd_operator.plan.birth import bootstrap
from etcd_operator.plan.chores import chores
from etcd_operator.plan.decision import Plan
from etcd_operator.plan.health import healthy, learners, listed, others, own, voters
from etcd_operator.plan.joining import is_move
from etcd_operator.plan.losses import (
    bring_back,
    everything_lost,
    majority_lost,
    replace_lost,
    start_again_without_quorum,
)
from etcd_operator.plan.outcome import IDLE, SHORTLY, Outcome, wait
from etcd_operator.plan.pulling import old_pulls
from etcd_operator.plan.rolling import finish_roll, roll_pods
from etcd_operator.plan.state import state
from etcd_operator.plan.steps import RemoveMember
from etcd_operator.plan.upgrading import blocked, put_back, upgrade
from etcd_operator.plan.view import View
from etcd_operator.plan.wording import count, names, sentence_list


def plan(view: View) -> Plan:
    """The one next step for a cluster, the status it shows meanwhile, and why."""
    outcome = decide(view)
    status = state(view, outcome)
    victim = outcome.operation.victim if outcome.operation else None
    going = view.cluster.metadata.deletion_timestamp is not None
    return Plan(
        step=outcome.step,
        status=status,
        why=outcome.why,
        chores=() if going else chores(view, victim=victim),
        events=announcements(view.cluster.status, status),
    )


def decide(view: View) -> Outcome:
    return (
        deleted(view)
        or paused(view)
        or bootstrap(view)
        or put_back(view)
        or bring_back(view)
        or start_again_without_quorum(view)
        or everything_lost(view)
        or majority_lost(view)
        or tidying.unwanted_learners(view)
        or replace_lost(view)
        or finish_what_was_begun(view)
        or forget_what_is_over(view)
        or tidying.strays(view)
        or tidying.claims_of_discarded(view)
        or grow(view)
        or shrink(view)
        or upgrade(view)
        or roll_pods(view)
        or old_pulls(view)
        or idle(view)
    )


def deleted(view: View) -> Outcome | None:
    """Kubernetes takes down what the object owns; claims that are to be kept have no owner."""
    if view.cluster.metadata.deletion_timestamp is None:
        return None
    return wait("The cluster is being deleted.", operation=wanted.operation(view), seconds=IDLE)


def paused(view: View) -> Outcome | None:
    if not view.cluster.spec.paused:
        return None
    why = (
        "spec.paused is set: the operator changes nothing, and a member that is lost stays lost. Members go on serving."
    )
    return wait(why, operation=wanted.operation(view), seconds=IDLE, reason="Paused")


def finish_what_was_begun(view: View) -> Outcome | None:
    """The rest of an operation, as it stands in the status; nothing if it is done or there is none.

    An upgrade and a roll on claims are not here: they go on wherever members differ from what is wanted.
    """
    operation = wanted.operation(view)
    match operation.name if operation else "":
        case "Replace" if operation:
            return _replace(view, operation)
        case "Roll" if operation and operation.victim:
            return finish_roll(view, operation)
        case "ScaleDown" if operation:
            return _scale_down(view, operation)
        case "ScaleUp" | "Bootstrap" if operation:
            return _too_many(view, operation) or joining.start_missing(view, operation) or joining.join(view, operation)
    return None


def forget_what_is_over(view: View) -> Outcome | None:
    """What was begun is finished by now or was called off; but a move of members goes on by what is due."""
    operation = wanted.operation(view)
    if operation is None or is_move(operation):
        return None
    status = msgspec.structs.replace(view.cluster.status, operation=None)
    return decide(replace(view, cluster=msgspec.structs.replace(view.cluster, status=status)))


def _replace(view: View, operation: Operation) -> Outcome | None:
    """Out first, unless the lost one has come back meanwhile; then whoever was to follow it is not needed."""
    victim = listed(view, operation.victim or "")
    if victim is not None and healthy(view, victim):
        return None
    return (
        _too_many(view, operation)
        or joining.start_missing(view, operation)
        or joining.remake(view, operation)
        or leaving.strike(view, operation)
        or leaving.clear_pod(view, operation)
        or joining.join(view, operation)
    )


def _scale_down(view: View, operation: Operation) -> Outcome | None:
    """Called off while the victim is still a member and is wanted again."""
    victim = listed(view, operation.victim or "")
    if victim is not None and victim.ours and len(own(view)) <= wanted.size(view):
        return None
    return leaving.strike(view, operation) or leaving.clear_pod(view, operation)


def _too_many(view: View, operation: Operation) -> Outcome | None:
    """The size was lowered while members join: the last ones turn round, first those that etcd does not list."""
    staying = [member for member in own(view) if operation.name != "Replace" or member.name != operation.victim]
    coming = joining.unlisted(view, operation)
    over = len(staying) + len(coming) - wanted.size(view)
    if over <= 0:
        return None
    if coming:
        leave = coming[-over:]
        rest = tuple(name for name in operation.members or () if name not in leave)
        why = f"The size is {wanted.size(view)} now, so that {sentence_list(leave)} need not join."
        return wait(why, operation=_with(operation, rest), seconds=0)
    for name in reversed(joining.pending(view, operation)):
        member = listed(view, name)
        if member is not None and len(staying) > wanted.size(view):
            rest = tuple(each for each in operation.members or () if each != name)
            why = f"The size is {wanted.size(view)} now; {name} is taken back before it votes."
            return Outcome(step=RemoveMember(name, member.id), why=why, operation=_with(operation, rest))
    return None


def _with(operation: Operation, members: tuple[str, ...]) -> Operation | None:
    """An operation that nobody joins by any more is over, unless somebody is still to leave."""
    return leaving.with_members(operation, members) if members or operation.victim else None


def grow(view: View) -> Outcome | None:
    """Members that are missing, and learners that nobody minds: what was begun and forgotten is taken up."""
    missing = wanted.size(view) - len(own(view))
    forgotten = tuple(member.name for member in learners(view) if member.ours)
    if missing < 0 or not (missing or forgotten):
        return None
    if view.problems:
        return wait(view.problems[0].sentence, operation=wanted.operation(view), stalled=True)
    if refusal := rules.calm(view):
        return wait(refusal.sentence, operation=wanted.operation(view))
    members = (*forgotten, *wanted.fresh_names(view, missing))
    operation = Operation(name="ScaleUp", since=view.now.replace(microsecond=0), members=members)
    return joining.start_missing(view, operation) or joining.join(view, operation)


def shrink(view: View) -> Outcome | None:
    if len(own(view)) <= wanted.size(view):
        return None
    if refusal := rules.calm(view):
        return wait(refusal.sentence, operation=wanted.operation(view))
    victim = leaving.choose_victim(view)
    if victim is None:
        return None
    operation = leaving.begin_removal("ScaleDown", victim, view)
    why = f"{count(len(own(view)), 'member')}, {wanted.size(view)} wanted: {victim.name} goes."
    return wait(why, operation=operation, seconds=0)


def idle(view: View) -> Outcome:
    if why := blocked(view):
        settled = rules.gate(view) is None and all(member.started for member in others(view))
        seconds = IDLE if settled else SHORTLY
        return wait(why, operation=None, seconds=seconds, reason="InvalidSpec", stalled=True)
    if view.problems:
        return wait(view.problems[0].sentence, operation=None, reason="Degraded", stalled=True)
    if refusal := rules.gate(view):
        return wait(refusal.sentence, operation=None)
    if refusal := rules.no_alarm(view):
        return wait(refusal.sentence, operation=None, seconds=IDLE)
    if strangers := others(view):
        started = all(member.started for member in strangers)
        fate = "It is left alone." if started else "If it does not start soon, it is removed."
        why = f"{names(strangers)} was added by hand and has no vote. {fate}"
        return wait(why, operation=None, seconds=IDLE if started else SHORTLY)
    everybody = count(len(voters(view)), "member")
    return wait(f"All is as wanted: {everybody}, all answering.", operation=None, seconds=IDLE)
