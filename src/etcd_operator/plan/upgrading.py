"""Another version of etcd: where to, under what conditions, and back again where a member does not start with it."""

from __future__ import annotations

from datetime import timedelta

from etcd_operator.api.cluster import MemberStatus, Operation
from etcd_operator.plan import leaving, rules, wanted
from etcd_operator.plan.health import answer_of, known, living_body, usable_disk, voters
from etcd_operator.plan.outcome import SOON, Outcome, wait
from etcd_operator.plan.pulling import bring_image
from etcd_operator.plan.rolling import continued, in_turn, is_due, may_stop, pause, successor, with_turn
from etcd_operator.plan.steps import ChangeImage, DeletePod, SaveRaftSnapshots, Step
from etcd_operator.plan.view import Body, Listed, Stage, View
from etcd_operator.plan.wording import ended, sentence_list
from etcd_operator.releases.hops import AuthenticationOff, FreshRaftSnapshotOnEveryMember
from etcd_operator.releases.path import Move, move
from etcd_operator.releases.refusal import Refusal as VersionRefusal
from etcd_operator.releases.version import Version

CRASHING = timedelta(minutes=1)  # of silence of a member that ends again and again with a new image
HANGING = timedelta(minutes=4)  # of one that runs and says nothing: after one minute more it would be given up


def target(view: View) -> Move | VersionRefusal | None:
    """Where the members may be moved; None if they are there, or if nobody knows where they are."""
    wish, lowest = wanted.version(view), wanted.lowest_version(view)
    if wish is None or lowest is None:
        return None
    return move(lowest, wish)


def upgrade(view: View) -> Outcome | None:
    """One step of bringing all members to the version that is wanted; nothing if they are, or if it must not be."""
    aim = target(view)
    if not isinstance(aim, Move) or str(aim.target) == view.cluster.status.failed_version:
        return None
    due = _due(view, aim.target)
    if not due:
        return _arrived(view, aim.target)
    operation = continued(view, "Upgrade", version=str(aim.target))
    return _prepare(view, aim, operation) or _move(view, due[0], operation)


def blocked(view: View) -> str:
    """Why members stay on the version they run, as a sentence; empty if they need not."""
    wish, aim = wanted.version(view), target(view)
    if wish is None:
        return (
            f"spec.version is '{view.cluster.spec.version}', which is no version of etcd. The members stay as they are."
        )
    if isinstance(aim, VersionRefusal):
        return aim.sentence
    if aim and str(aim.target) == view.cluster.status.failed_version and _due(view, aim.target):
        return (
            f"A member could not be started with etcd {aim.target} and was put back. The others stay as they are. "
            f"Set spec.version to another version."
        )
    return ""


def _due(view: View, version: Version) -> list[Listed]:
    bodies = [(member, view.bodies[member.name]) for member in voters(view) if member.name in view.bodies]
    return in_turn(view, [member for member, body in bodies if is_due(view, body, version)])


def _arrived(view: View, version: Version) -> Outcome | None:
    """An upgrade is over when every member has said so itself."""
    operation = wanted.operation(view)
    if operation is None or operation.name != "Upgrade" or operation.version != str(version):
        return None
    for member in voters(view):
        answer = answer_of(view, member.name)
        if answer is None or answer.version != version:
            why = f"Waiting for {member.name} to answer with etcd {version}."
            return wait(why, operation=operation, reason="Upgrading", seconds=SOON)
    return None


def _prepare(view: View, aim: Move, operation: Operation) -> Outcome | None:
    """What the way to the next series asks for beforehand, on the whole cluster."""
    for need in aim.needs:
        if isinstance(need, AuthenticationOff) and view.authentication is not False:
            known_so = "is on" if view.authentication else "may be on, which could not be found out"
            why = (
                f"etcd's authentication {known_so}, and members cannot be moved to {aim.target} with it: "
                f"{aim.hop.because if aim.hop else ''}. Turn it off for the upgrade with: etcdctl auth disable"
            )
            return wait(why, operation=operation, reason="Upgrading", stalled=True)
        if isinstance(need, FreshRaftSnapshotOnEveryMember) and (held := _snapshots(view, aim.target, operation, need)):
            return held
    return None


def _begun(view: View, version: Version) -> bool:
    """Whether a member was moved already: then all were fit for it."""
    return any((body := view.bodies.get(member.name)) and body.version == version for member in voters(view))


def _snapshots(
    view: View, version: Version, operation: Operation, need: FreshRaftSnapshotOnEveryMember
) -> Outcome | None:
    if _begun(view, version):
        return None
    if refusal := rules.calm(view):
        return wait(refusal.sentence, operation=operation, reason="Upgrading")
    saved = {member.name: said.raft_snapshots for member in voters(view) if (said := answer_of(view, member.name))}
    mute = sorted(name for name, number in saved.items() if number is None)
    if mute:
        why = (
            f"Before members are moved to etcd {version}, each must have saved a raft snapshot. {sentence_list(mute)} "
            "does not tell: its metrics could not be read."
        )
        return wait(why, operation=operation, reason="Upgrading", stalled=True)
    if all(saved.values()):
        return None
    why = (
        f"etcd {version} cannot read what {need.writer} wrote into the log; "
        "making every member save a raft snapshot first."
    )
    return Outcome(step=SaveRaftSnapshots(), why=why, operation=operation, reason="Upgrading")


def _move(view: View, first: Listed, operation: Operation) -> Outcome | None:
    version = Version.parse(operation.version or "")
    if refusal := may_stop(view, first):
        return wait(refusal.sentence, operation=operation, reason="Upgrading", seconds=pause(refusal))
    body = view.bodies[first.name]
    if not body.restarts_itself:
        return successor(view, first, version=version, reason="Upgrading")
    image = wanted.image(view, version)
    runs = wanted.running_version(view, body) or "an unknown version"
    what = f"from etcd {runs} to {version}" if runs != version else f"to {image}"
    return (
        bring_image(view, body, image, operation)
        or leaving.hand_over(view, first, operation=operation)
        or Outcome(
            step=_stop(view, body, version, image),
            why=f"Moving {first.name} {what}.",
            operation=with_turn(operation, first),
            reason="Upgrading",
        )
    )


def _stop(view: View, body: Body, version: Version, image: str) -> Step:
    if usable_disk(view, body.name):
        return DeletePod(body.name, body.uid)
    return ChangeImage(member=body.name, uid=body.uid, version=version, image=image)


def put_back(view: View) -> Outcome | None:
    """A member that does not come up with the version it was moved to gets the one again that it ran last.

    Also where it is the only one. It may go back as long as it never ran: the cluster's version has waited for it.
    """
    operation = wanted.operation(view)
    if operation is None or operation.name != "Upgrade":
        return None
    for name in operation.members or ():
        body, before = living_body(view, name), known(view, name)
        if body is None or before is None or str(body.version) != operation.version or answer_of(view, name):
            continue
        why = _failing(view, body, before)
        if not why or not before.version or before.version == operation.version:
            continue
        last = Version.parse(before.version)
        step = ChangeImage(member=name, uid=body.uid, version=last, image=wanted.image(view, last))
        text = f"{name} does not start with etcd {body.version}: {ended(why)} It goes back to {last}."
        return Outcome(step=step, why=text, operation=operation, reason="Degraded", failed_version=str(body.version))
    return None


def _failing(view: View, body: Body, before: MemberStatus) -> str:
    """By what its containers do. A pod without a node, or on one that does not report, says nothing of an image."""
    if before.silent_since is None or body.stage < Stage.GUARDED or body.verdict is not None:
        return ""
    silence = view.now - before.silent_since
    if body.trouble and not body.running and silence >= CRASHING:
        return body.trouble
    if body.running and not body.restarting and silence >= HANGING:
        return f"it runs and has not answered for {HANGING // timedelta(minutes=1)} minutes"
    return ""
