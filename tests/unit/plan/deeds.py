"""What a step does to a cluster in miniature, and what must hold before it may: the invariants, in the tests' words.

They are asked of the cluster as it is, and not of what the plan believes.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from etcd_operator.plan import steps
from etcd_operator.plan.view import Disk, Pull, Stage
from etcd_operator.releases.capabilities import Capability, can
from etcd_operator.releases.variables import learners_at_once
from tests.unit.plan.scene import CLUSTER_ID, Member, Pod, Scene

HARMLESS_WITHOUT_QUORUM = (steps.Wait, steps.StartMembers, steps.ReturnMember, steps.DeletePod, steps.ChangeImage)


def take(scene: Scene, step: steps.Step) -> None:
    assert scene.has_quorum() or isinstance(step, HARMLESS_WITHOUT_QUORUM), f"I19: {step.name} without a quorum"
    assert not scene.paused or isinstance(step, steps.Wait), "something was done to a paused cluster"
    match step:
        case steps.StartMembers(starts):
            start_members(scene, starts)
        case steps.ReturnMember(start):
            return_member(scene, start)
        case steps.AddMember():
            add(scene, step)
        case steps.PromoteLearner(name, number):
            promote(scene, name, number)
        case steps.RemoveMember(name, number):
            remove(scene, name, number)
        case steps.DeletePod(name, uid):
            delete_pod(scene, name, uid)
        case steps.DeleteClaim(name, uid):
            delete_claim(scene, name, uid)
        case steps.ChangeImage():
            change_image(scene, step)
        case steps.SaveRaftSnapshots():
            assert all(map(scene.stays, scene.voters))
            scene.raft_snapshots = True
        case _:
            take_lightly(scene, step)


def take_lightly(scene: Scene, step: steps.Step) -> None:
    match step:
        case steps.MoveLeader():
            heir = identified(scene, step.to, step.to_id)
            assert identified(scene, step.origin, scene.leader) != heir
            assert not heir.learner
            assert scene.stays(heir), "the lead goes to one that is about to stop"
            scene.leader = step.to_id
        case steps.PullImage():
            assert step.member not in scene.pulls
            assert step.node == scene.pods[step.member].node
            scene.pulls[step.member] = Pull(uid="x", image=step.image, node=step.node)
        case steps.DropPull():
            del scene.pulls[step.member]
        case steps.Wait():
            pass
        case _:
            raise AssertionError(f"nobody does {step}")


def intended(scene: Scene) -> tuple[str, ...]:
    """Whom the operation names that was written down before."""
    operation = scene.status.operation
    return (operation.members or ()) if operation else ()


def start_members(scene: Scene, starts: tuple[steps.Start, ...]) -> None:
    for start in starts:
        assert start.member in intended(scene), "no intent was recorded"
        assert start.identity is None
        assert not start.seed or not (scene.born or scene.has_quorum()), "I8: a seed where data was"
        if start.on_claim and start.member not in scene.disks:
            scene.disks[start.member] = Disk(name=start.member, uid=f"claim-{start.member}", requested="1Gi")
        create(scene, start)


def return_member(scene: Scene, start: steps.Start) -> None:
    disk, member = scene.disks[start.member], scene.member(start.member)
    assert (disk.deleting, disk.lost) == (False, False)
    if member is not None and member.started and start.member in scene.written:
        assert start.identity, "I5: nobody told it who it was"
        assert start.identity.member_id == member.id, "I5: told that it is another"
    create(scene, start)


def create(scene: Scene, start: steps.Start) -> None:
    assert start.member not in scene.pods
    assert start.version.series >= scene.series, "I20: it would be turned away"
    scene.pods[start.member] = Pod(
        name=start.member,
        uid=f"uid-{next(scene.numbers)}",
        version=start.version,
        joins=frozenset(start.peers),
        seed=start.seed,
        on_claim=start.on_claim,
        policy=scene.policy,
        identity=start.identity,
        created=scene.now,
    )


def add(scene: Scene, step: steps.AddMember) -> None:
    assert all(map(scene.stays, scene.voters)), "I2: a voter is down while a member is added"
    assert not any(alarm.kind == "CORRUPT" for alarm in scene.alarms)
    assert step.member in intended(scene), "no intent was recorded"
    lowest = min(pod.runs for member in scene.voters if (pod := scene.pods[member.name]).runs)
    assert step.learner == can(lowest, Capability.LEARNERS), "I2: added with a vote"
    pod = scene.pods[step.member]
    if step.learner:
        limit = learners_at_once(lowest, {"ETCD_MAX_LEARNERS": "7"})
        assert sum(member.learner for member in scene.members) < limit, "I3: too many learners"
    else:
        assert scene.pulls[step.member].done, "a voter is added whose image may not be there"
    assert step.member not in scene.names, "I7: listed twice"
    assert step.peer_url == f"http://{step.member}.demo.ns.svc:2380"
    assert (pod.stage, pod.deleting) == (Stage.GUARDED, False)
    assert pod.joins >= {*scene.names, step.member}, "I7: it waits for another list"
    scene.members.append(Member(next(scene.numbers), step.member, learner=step.learner))


def identified(scene: Scene, name: str, number: int) -> Member:
    member = scene.member(name)
    assert member, "I10: nobody of that name"
    assert member.id == number, "I10: another of that name"
    return member


def promote(scene: Scene, name: str, number: int) -> None:
    member = identified(scene, name, number)
    assert member.learner
    assert scene.stays(member), "I2: a learner that is dead or dying is promoted"
    assert member.behind <= 1000, "I2: a learner that lags is promoted"
    assert all(map(scene.stays, scene.voters)), "I2: a voter is down while a learner is promoted"
    assert scene.pods[name].identity is not None, "I5: promoted before its identity was recorded"
    member.learner = False


def remove(scene: Scene, name: str, number: int) -> None:
    member = identified(scene, name, number)
    assert name in (scene.status.discarded or ()), "I16: no intent was recorded"
    assert member.ours or not member.started, "a member that somebody else runs was removed"
    if not member.learner:
        _may_lose_its_vote(scene, member)
    scene.members.remove(member)
    scene.elect()


def _may_lose_its_vote(scene: Scene, member: Member) -> None:
    rest = [other for other in scene.voters if other.id != member.id]
    assert sum(map(scene.stays, rest)) > len(rest) // 2, "I1: those who stay have no quorum"
    operation = scene.status.operation
    assert operation, "no intent was recorded"
    assert operation.victim == member.name, "no intent was recorded"
    _has_handed_over(scene, member)
    if _beyond_return(scene, member):
        return
    if operation.name != "Replace" and (scene.alive(member) or all(map(scene.stays, rest))):
        assert all(map(scene.stays, rest)), "I1: a healthy voter is removed while another is down"
        return
    assert not scene.alive(member), "I1: a healthy voter is replaced"
    silent = scene.now - scene.silent_from.get(member.name, scene.now)
    assert silent >= timedelta(minutes=4, seconds=59), "I18: given up before the window"
    assert not scene.alone, "I18: given up while the operator is cut off"


def _has_handed_over(scene: Scene, member: Member) -> None:
    """Where there is somebody who can take over, and the version can."""
    heirs = [other for other in scene.voters if other.id != member.id and scene.stays(other)]
    runs = scene.pods[member.name].runs if scene.alive(member) else None
    if heirs and runs and can(runs, Capability.MOVE_LEADER) and not scene.pods[member.name].deleting:
        assert scene.leader != member.id, "the leader was stopped without a hand-over"


def _beyond_return(scene: Scene, member: Member) -> bool:
    pod, disk = scene.pods.get(member.name), scene.disks.get(member.name)
    kept = disk is not None and not disk.deleting and member.name in scene.written
    there = pod is not None and not pod.deleting and pod.stage is not Stage.ENDED and member.name in scene.written
    return not kept and not there


def delete_pod(scene: Scene, name: str, uid: str) -> None:
    pod, member = scene.pods[name], scene.member(name)
    assert (pod.uid, pod.deleting) == (uid, False)
    if member is not None and name in scene.written:
        assert name in scene.disks, "I16: the only copy of a member's data was deleted"
        assert not scene.disks[name].deleting, "I16: the only copy of a member's data was deleted"
    if member is not None and not member.learner and scene.alive(member):
        _may_stop(scene, member)
    pod.deleting = True


def _may_stop(scene: Scene, member: Member) -> None:
    rest = [other for other in scene.voters if other.id != member.id]
    assert all(map(scene.stays, rest)), "I12: a second member is stopped"
    assert not scene.alarms, "I12: stopped under an alarm"
    _has_handed_over(scene, member)
    assert member.name in intended(scene), "no intent was recorded"


def delete_claim(scene: Scene, name: str, uid: str) -> None:
    disk = scene.disks[name]
    assert (disk.uid, disk.deleting) == (uid, False)
    assert scene.member(name) is None, "I16: the disk of a member was deleted"
    if name in scene.written:
        assert name in (scene.status.discarded or ()), "I16: nobody asked for it"
        assert all(map(scene.stays, scene.voters)), "I16: it may be a copy that is needed"
    scene.disks[name] = replace(disk, deleting=True)


def change_image(scene: Scene, step: steps.ChangeImage) -> None:
    pod, member = scene.pods[step.member], scene.member(step.member)
    assert (pod.uid, pod.deleting) == (step.uid, False)
    assert member
    if scene.alive(member):
        _may_stop(scene, member)
        pull = scene.pulls[step.member]
        assert (pull.done, pull.image) == (True, step.image), "it is stopped before its image is there"
    assert step.version.series >= scene.series, "I20: it would be turned away"
    pod.version = step.version
    told = [scene.pods[each.name].version.series for each in scene.voters if each.name in scene.pods]
    assert max(told).minor - min(told).minor <= 1, "I20: more than one minor apart"


def tidy(scene: Scene, chore: steps.Chore) -> None:
    match chore:
        case steps.EnsureSurroundings():
            scene.missing = ()
        case steps.RecordBirth(cluster_id):
            assert cluster_id == CLUSTER_ID
            scene.born = True
        case steps.RecordIdentity():
            pod = scene.pods[chore.member]
            assert chore.pod_uid == pod.uid
            pod.identity = chore.identity
            pod.policy = chore.policy or pod.policy
            if chore.claim_uid:
                scene.disks[chore.member] = replace(scene.disks[chore.member], identity=chore.identity)
        case steps.OpenGate(name, _, wish):
            member = scene.member(name)
            assert not wish or (member is not None and not member.learner and scene.alive(member))
            scene.pods[name].serving = wish
        case _:
            raise AssertionError(f"nobody does {chore}")
