"""Members that will not come back, and how that is known.

A failed check is not a failed member. A member is lost only by evidence: its disk is gone, or its guard says so.
Without evidence it is given up after a window of silence. The window is kept in the status, so that a restarted
operator neither shortens nor extends it; so is when a member was last given up, as whatever silences one member after
the other is not cured by new members.
"""

from __future__ import annotations

from datetime import timedelta

from etcd_operator.plan.health import answer_of, known, usable_disk
from etcd_operator.plan.view import Body, Listed, Stage, View

WINDOW = timedelta(minutes=5)
SPACING = timedelta(minutes=10)
FATAL = frozenset({"DiskLost", "ForeignDisk"})


def lost(view: View, member: Listed) -> str:
    """Why a member cannot come back, as a sentence; empty if it may."""
    body = view.bodies.get(member.name)
    if answer_of(view, member.name) is not None or not member.ours:
        return ""
    if body is not None and body.verdict is not None and body.verdict.reason in FATAL:
        return body.verdict.sentence
    if usable_disk(view, member.name) is not None or not _bodiless(body):
        return ""
    if not member.started:
        return f"{member.name} was listed as a member and never started; it has no pod."
    return f"{member.name} is gone, and its data with it."


def given_up(view: View, member: Listed) -> str:
    """Why a member is no longer waited for, as a sentence; empty if it is."""
    before = known(view, member.name)
    since = before.silent_since if before else None
    if since is None or not silent_for_long(view, member):
        return ""
    if view.alone or _just_given_up(view) or (member.started and not member.ours):
        return ""
    minutes = WINDOW // timedelta(minutes=1)
    return f"{member.name} has not answered since {since:%H:%M:%S} UTC, for more than {minutes} minutes."


def silent_for_long(view: View, member: Listed) -> bool:
    before = known(view, member.name)
    since = before.silent_since if before else None
    return since is not None and view.now - since >= WINDOW and not _speaks(view, member) and _had_time(view, member)


def _had_time(view: View, member: Listed) -> bool:
    """Whether its pod has been there as long: who has a disk and got a pod only now has not been waited for."""
    if usable_disk(view, member.name) is None:
        return True
    body = view.bodies.get(member.name)
    return body is not None and (body.created is None or view.now - body.created >= WINDOW)


def _speaks(view: View, member: Listed) -> bool:
    """Under a leader and as itself: then it is slow, perhaps catching up, and a new member would be slower."""
    answer = answer_of(view, member.name)
    return answer is not None and answer.identity.member_id == member.id and (answer.leader != 0 or answer.linearizable)


def _just_given_up(view: View) -> bool:
    last = view.cluster.status.last_given_up
    return last is not None and view.now - last < SPACING


def _bodiless(body: Body | None) -> bool:
    """No pod, or one that is on its way out. On a disk that dies with the pod, that is the end of the member."""
    return body is None or body.deleting or body.stage is Stage.ENDED
