"""The rules of membership. Each says why something must not be done now, or nothing.

They are asked right before each change, on what was seen a moment ago, whatever was decided earlier.
"""

from __future__ import annotations

from etcd_operator.plan.health import answer_of, healthy, leader, learners, others, quorum, silent, voters
from etcd_operator.plan.refusal import Refusal
from etcd_operator.plan.view import Listed, View
from etcd_operator.plan.wording import answer, answering, count, names, needed, sentence_list
from etcd_operator.releases.capabilities import Capability, can
from etcd_operator.releases.variables import MAX_LEARNERS, learners_at_once, variables
from etcd_operator.releases.version import Version

LEARNER_GAP = 1000  # entries; etcd's own limit of a tenth of all can be millions
CORRUPT = "CORRUPT"


def gate(view: View) -> Refusal | None:
    """I2, I12: who joins gets on only while every voter answers, under one leader, and no data is in doubt.

    A full quota does not stop this: a member that was lost under it must be replaceable, and etcd still takes changes
    of members then.
    """
    return has_leader(view) or nobody_else(view) or everyone_answers(view) or no_alarm(view, of=CORRUPT)


def calm(view: View) -> Refusal | None:
    """What nobody forces us to do is begun only if there is no alarm at all, either."""
    return gate(view) or no_alarm(view)


def has_leader(view: View) -> Refusal | None:
    if view.roster is None:
        return Refusal("NoQuorum", f"No member gives a list of members: {view.no_roster or 'none answers'}.")
    if leader(view) is None:
        return Refusal("NoLeader", "The members that answer do not agree on a leader yet.")
    return None


def nobody_else(view: View) -> Refusal | None:
    """I2: a voter that the operator cannot ask may be the one that is missing."""
    strangers = [member for member in others(view) if not member.learner]
    if not strangers:
        return None
    votes = "votes in the cluster and has" if len(strangers) == 1 else "vote in the cluster and have"
    return Refusal(
        "UnknownMember",
        f"{names(strangers)} {votes} no pod of it, so the operator cannot ask whether all are well, and nothing is "
        f"changed. Whom nobody needs is removed with: etcdctl member remove {strangers[0].id:x}",
    )


def everyone_answers(view: View, *, but: Listed | None = None) -> Refusal | None:
    """I2, I12: a member that is silent now would be the second one missing."""
    asked = [member for member in voters(view) if but is None or member.id != but.id]
    missing = silent(view, asked)
    if not missing:
        return None
    heard = len(asked) - len(missing)
    return Refusal(
        "MembersSilent",
        f"{answering(heard, len(asked), 'voting member')}; nothing is changed until "
        f"{names(missing)} {answer(len(missing))}, too.",
    )


def no_alarm(view: View, *, of: str = "") -> Refusal | None:
    kinds = sorted({alarm.kind for alarm in view.alarms if not of or alarm.kind == of})
    if not kinds:
        return None
    return Refusal(
        "AlarmRaised",
        f"etcd has raised the alarm {sentence_list(kinds)}; no member is added or restarted until it is cleared.",
    )


def not_alone(view: View) -> Refusal | None:
    """I18: nobody is given up for silence while it may be the operator who does not hear."""
    if not view.alone:
        return None
    return Refusal(
        "OperatorCutOff",
        "Members of several clusters are silent at once, so it may be the operator that is cut off; "
        "no silent member is given up.",
    )


def removal_keeps_quorum(view: View, victim: Listed) -> Refusal | None:
    """I1: the voters that stay must hold a quorum among themselves, as seen by us a moment ago.

    etcd's own check counts a frozen peer as connected for more than a minute (3.5 and later), so its yes is not enough.
    """
    if victim.learner:
        return None
    rest = [member for member in voters(view) if member.id != victim.id]
    heard = [member for member in rest if healthy(view, member)]
    if rest and len(heard) >= quorum(len(rest)):
        return None
    if not rest:
        return Refusal("LastMember", f"{victim.name} is the only voting member; without it there is no cluster.")
    return Refusal(
        "QuorumAtRisk",
        f"{len(heard)} of the {count(len(rest), 'member')} that would stay {answer(len(heard))}, "
        f"{needed(quorum(len(rest)))}. {victim.name} is kept until they are back.",
    )


def learner_has_caught_up(view: View, learner: Listed) -> Refusal | None:
    """I2: etcd promotes a dead learner, and one that is a million entries behind."""
    said = answer_of(view, learner.name)
    if said is None or said.identity.member_id != learner.id:
        return Refusal("LearnerSilent", f"{learner.name} has joined as a learner and does not answer yet.")
    leading = leader(view)
    ahead = answer_of(view, leading.name) if leading else None
    if ahead is None:
        return Refusal("NoLeader", "The leader does not answer, so how far a learner is behind is not known.")
    behind = ahead.applied - said.applied
    if behind > LEARNER_GAP:
        return Refusal("LearnerLags", f"{learner.name} is {behind} entries behind the leader.")
    return None


def learner_is_known(view: View, learner: Listed) -> Refusal | None:
    """I5: from its promotion on its votes count, so its pod must know by then that an empty disk is a lost one."""
    body = view.bodies.get(learner.name)
    if body is not None and body.identity is not None and body.identity.member_id == learner.id:
        return None
    return Refusal("IdentityNotRecorded", f"{learner.name} is not marked as a member that has run yet.")


def learner_stays(view: View, learner: Listed) -> Refusal | None:
    """A vote is given to nobody who is on its way out."""
    body = view.bodies.get(learner.name)
    if body is None or not body.deleting:
        return None
    return Refusal("LearnerGoes", f"The pod of {learner.name} is being deleted; it gets no vote.")


def room_for_learner(view: View, version: Version) -> Refusal | None:
    """I3: no more learners than every member allows."""
    slots = learner_slots(view, version)
    if not can(version, Capability.LEARNERS) or len(learners(view)) < slots:
        return None
    return Refusal("LearnersAtWork", f"{names(learners(view))} must become a voting member first.")


def learner_slots(view: View, version: Version) -> int:
    """By the oldest version among the members; a pod of the old operator was not told our limit."""
    if any(not body.gated for body in view.bodies.values()):
        return learners_at_once(version, {})
    policy = view.cluster.spec.pod
    theirs = {
        str(entry.get("name")): str(entry.get("value", "")) for entry in (policy.etcd_env if policy else None) or ()
    }
    told = theirs.get(MAX_LEARNERS, variables().get(MAX_LEARNERS, ""))
    return learners_at_once(version, {MAX_LEARNERS: told})
