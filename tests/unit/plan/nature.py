"""What kubelets, guards and etcd do by themselves from one turn to the next."""

from __future__ import annotations

from dataclasses import replace

from etcd_operator.plan.refusal import Refusal
from etcd_operator.plan.view import Stage
from etcd_operator.releases.version import Series, Version
from tests.unit.plan.scene import NODES, Member, Pod, Scene

OLD_LOG = Series(3, 7)  # cannot read what an older log holds, unless a raft snapshot was saved


def settle(scene: Scene) -> None:
    for pod in list(scene.pods.values()):
        if pod.node not in scene.lost_nodes:
            _kubelet(scene, pod)
    pulls = [(name, pull) for name, pull in scene.pulls.items() if not pull.deleting]
    scene.pulls = {name: replace(pull, done=pull.done or scene.registry) for name, pull in pulls}
    scene.disks = {name: disk for name, disk in scene.disks.items() if not disk.deleting or name in scene.pods}
    scene.written -= {name for name in scene.written if name not in scene.pods and name not in scene.disks}
    for member in scene.members:
        member.behind = max(0, member.behind - 2000) if scene.alive(member) else member.behind
    scene.elect()
    _raise_series(scene)
    note_silence(scene)


def note_silence(scene: Scene) -> None:
    now = {member.name: scene.silent_from.get(member.name, scene.now) for member in scene.members}
    scene.silent_from = {member.name: now[member.name] for member in scene.members if not scene.alive(member)}


def _kubelet(scene: Scene, pod: Pod) -> None:
    if pod.deleting:
        del scene.pods[pod.name]
    elif pod.stage is Stage.PENDING and pod.schedulable and not scene.full:
        nodes = [node for node in NODES if node not in scene.lost_nodes]
        crowd = {node: sum(other.node == node for other in scene.pods.values()) for node in nodes}
        pod.stage, pod.node = Stage.PREPARING, min(nodes, key=lambda node: crowd[node])
    elif pod.stage is Stage.PREPARING:
        pod.stage = Stage.GUARDED
    elif pod.stage is Stage.GUARDED and guard(scene, pod):
        pod.stage = Stage.STARTED
        _run(scene, pod)
    elif pod.stage is Stage.STARTED and pod.runs != pod.version and not pod.frozen:
        _run(scene, pod)


def guard(scene: Scene, pod: Pod) -> bool:
    """Whether etcd may start: on its own disk at once, on an empty one only if it never ran and is listed."""
    pod.verdict = None
    if pod.name in scene.written:
        return True
    if pod.identity is not None:
        pod.verdict = Refusal("DiskLost", f"The disk of {pod.name} is empty.")
        return False
    return pod.seed or frozenset(member.name for member in scene.members) == pod.joins


def _run(scene: Scene, pod: Pod) -> None:
    pod.runs, pod.trouble = None, ""
    member = scene.member(pod.name)
    if str(pod.version) in scene.bad_versions:
        pod.trouble = f"etcd {pod.version} ended with 2"
    elif pod.seed and not scene.written:
        assert not scene.born, "I8: a cluster that has lived is begun anew"
        scene.births += 1
        scene.members = [Member(next(scene.numbers), pod.name)]
        _serve(scene, pod, scene.members[0])
    elif member is None:
        pod.trouble = "the member has been permanently removed from the cluster"
    elif pod.version.series < scene.series:
        pod.trouble = "invalid downgrade"
    else:
        _serve(scene, pod, member)


def _serve(scene: Scene, pod: Pod, member: Member) -> None:
    """Harmless is who has no vote yet, and one of two: where both are needed for all, nothing can be outvoted."""
    harmless = member.learner or (len(scene.voters) <= 2 and pod.version < Version(3, 4))
    emptied = member.started and pod.name not in scene.written
    assert not emptied or harmless, "I5: a member that has run starts on an empty disk"
    if pod.version.series >= OLD_LOG > scene.series > Series(0, 0):
        assert scene.raft_snapshots, "3.7 was started on an old log"
    pod.runs, pod.since, member.started = pod.version, scene.now, True
    scene.written.add(pod.name)


def _raise_series(scene: Scene) -> None:
    """The cluster's version is the lowest of all, and moves only while all are there."""
    if scene.members and all(map(scene.alive, scene.members)):
        runs = [scene.pods[member.name].runs for member in scene.members]
        scene.series = max(scene.series, min(version.series for version in runs if version))
