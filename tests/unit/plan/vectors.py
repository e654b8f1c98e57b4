"""Every way a cluster of up to five voters can be, put together by hand rather than lived through."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from itertools import combinations_with_replacement

from etcd_operator.api.cluster import ClusterStatus, MemberStatus, Operation
from etcd_operator.plan.refusal import Refusal
from etcd_operator.plan.view import Disk, Identity, Pull, Stage
from etcd_operator.releases.version import Version
from tests.unit.plan.scene import CLUSTER_ID, NODES, Member, Pod
from tests.unit.plan.world import World

LONG, SHORT = timedelta(minutes=7), timedelta(seconds=40)


class Health(enum.Enum):
    ANSWERS = enum.auto()
    SILENT = enum.auto()  # frozen or slow, for a moment
    SILENT_LONG = enum.auto()  # beyond the window
    DELETING = enum.auto()  # still answers, and not for long
    STUCK = enum.auto()  # being deleted on a node that is gone
    ENDED = enum.auto()
    DISK_LOST = enum.auto()
    NO_POD = enum.auto()


class Learning(enum.Enum):
    DONE = enum.auto()
    LAGS = enum.auto()
    SILENT = enum.auto()
    DELETING = enum.auto()
    NO_POD = enum.auto()
    NOT_RECORDED = enum.auto()


def healths(largest: int) -> Iterator[tuple[Health, ...]]:
    for size in range(1, largest + 1):
        yield from combinations_with_replacement(Health, size)


def a_world(
    healths: tuple[Health, ...], learning: tuple[Learning, ...] = (), *, claims: bool = False, version: str = "3.6.16"
) -> World:
    """Settled for long, but for what is the matter with each member."""
    world = World(size=len(healths), version=version, claims=claims, born=True, missing=(), raft_snapshots=True)
    world.series = Version.parse(version).series
    known = []
    for number, health in enumerate(healths):
        known.append(_voter(world, f"demo-v{number}", health))
    for number, state in enumerate(learning):
        known.append(_learner(world, f"demo-l{number}", state))
    world.elect()
    world.status = ClusterStatus(cluster_id=f"{CLUSTER_ID:x}", member_list=tuple(known), current_version=version)
    return world


def _member(world: World, name: str) -> tuple[Member, Pod]:
    member = Member(next(world.numbers), name, started=True)
    version = Version.parse(world.version)
    pod = Pod(
        name=name,
        uid=f"uid-{name}",
        version=version,
        runs=version,
        joins=frozenset({name}),
        on_claim=world.claims,
        stage=Stage.STARTED,
        identity=Identity(CLUSTER_ID, member.id),
        node=NODES[len(world.members) % len(NODES)],
        since=world.now - timedelta(hours=1),
        serving=True,
    )
    world.members.append(member)
    world.pods[name] = pod
    world.written.add(name)
    if world.claims:
        world.disks[name] = Disk(name=name, uid=f"claim-{name}", identity=pod.identity, requested="1Gi")
    return member, pod


def _voter(world: World, name: str, health: Health) -> MemberStatus:
    member, pod = _member(world, name)
    since = world.now - (LONG if health in (Health.SILENT_LONG, Health.STUCK) else SHORT)
    match health:
        case Health.SILENT | Health.SILENT_LONG:
            pod.frozen = True
        case Health.DELETING:
            pod.deleting = True
        case Health.STUCK:
            pod.deleting, pod.frozen = True, True
        case Health.ENDED:
            pod.stage, pod.runs, pod.restarts_itself = Stage.ENDED, None, False
        case Health.DISK_LOST:
            pod.stage, pod.runs = Stage.GUARDED, None
            pod.verdict = Refusal("DiskLost", f"The disk of {name} is empty.")
            world.written.discard(name)
        case Health.NO_POD:
            world.lose_pod(name)
    silent = health not in (Health.ANSWERS, Health.DELETING)
    if silent:
        world.silent_from[name] = since
    return MemberStatus(
        name=name,
        member_id=f"{member.id:x}",
        role="Voter",
        ready=not silent,
        version=world.version,
        silent_since=since if silent else None,
    )


def _learner(world: World, name: str, state: Learning) -> MemberStatus:
    member, pod = _member(world, name)
    member.learner, pod.serving = True, False
    match state:
        case Learning.LAGS:
            member.behind = 5000
        case Learning.SILENT:
            pod.frozen = True
        case Learning.DELETING:
            pod.deleting = True
        case Learning.NO_POD:
            world.lose_pod(name)
        case Learning.NOT_RECORDED:
            pod.identity = None
    return MemberStatus(name=name, member_id=f"{member.id:x}", role="Learner", version=world.version)


def a_waiting_pod(world: World, name: str) -> None:
    """At the door, in its guard, with its image on its node."""
    version = Version.parse(world.version)
    names = frozenset({*world.names, name})
    pod = Pod(name=name, uid=f"uid-{name}", version=version, joins=names, stage=Stage.GUARDED, node="node-a")
    world.pods[name] = replace(pod, on_claim=world.claims)
    world.pulls[name] = Pull(uid="x", image=f"etcd:v{version}", node="node-a", done=True)


def operations(world: World) -> Iterator[Operation | None]:
    """Each that can be under way, at each of its points as far as the status tells them apart."""
    first, last = world.names[0], world.names[-1]
    learning = tuple(member.name for member in world.members if member.learner)
    yield None
    yield Operation(name="ScaleUp", members=(*learning, "demo-new"))
    yield Operation(name="Bootstrap", members=(first, *learning, "demo-new"))
    for victim in (first, last):
        yield Operation(name="ScaleDown", victim=victim)
        yield Operation(name="Replace", victim=victim, members=(*learning, "demo-new"))
        yield Operation(name="Roll", victim=victim, members=("demo-new",))
        yield Operation(name="Roll", members=(victim,))
        yield Operation(name="Upgrade", version="3.6.17", members=(victim,))
    yield Operation(name="Replace", victim="demo-gone", members=(*learning, "demo-new"))
    yield Operation(name="ScaleDown", victim="demo-gone")


def wishes(world: World) -> Iterator[str]:
    """What the user may want meanwhile; each changes the world and leaves it so."""
    size = world.size
    changes: dict[str, dict[str, int | str]] = {
        "the same": {},
        "more": {"size": min(7, size + 2)},
        "fewer": {"size": max(1, size - 2)},
        "another patch": {"size": size, "version": "3.6.17"},
        "a series further": {"version": "3.7.3"},
        "what cannot be": {"version": "3.4.1"},
        "other pods": {"version": "3.6.16", "policy": "p2"},
    }
    for name, change in changes.items():
        for field, value in change.items():
            setattr(world, field, value)
        yield name
