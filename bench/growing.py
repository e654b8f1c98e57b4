"""How long a user waits: for a new cluster, for a lost member's successor, for two more members.

Each is compared with pods that need no operator, in the same minutes. What is measured is one person's wait, so there
is one cluster at a time, and it has come to rest before it is asked for the next thing.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from bench import rivals
from bench.boxes import NAMESPACE
from bench.comparison import Better, Comparison, Result
from bench.figure import Figure
from bench.operated import REST, World, members_of, operated
from box.toolchain.tools import tool
from etcd_operator.kube.errors import NotFoundError
from etcd_operator.kube.resources import ETCD_CLUSTERS, PODS, SERVICES, Resource

OLD, NEW = (tool(f"etcd-{series}").version for series in ("3.5", "3.6"))
STATEFUL_SETS = Resource(group="apps", version="v1", plural="statefulsets", kind="StatefulSet")
CLUSTER = "measured"
SIZE, LARGER = 3, 5
POD = "one bare etcd pod"


@dataclass
class Notes:
    """What was measured, by its name; calls of the API beside seconds."""

    seconds: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    calls: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    def compared(self, ours: str, baseline: str, *, name: str, bound: float | None, against: str = POD) -> Comparison:
        mine, theirs = tuple(self.seconds[ours]), tuple(self.seconds[baseline])
        return Comparison(name, "s", against, mine, theirs, better=Better.LOWER, bound=bound)


async def measure(rounds: int) -> list[Result]:
    notes = Notes()
    async with operated() as world:
        await bare(world, Notes())  # what only the first pod on a node pays for
        for each in range(rounds):
            trials: list[Callable[[World, Notes], Awaitable[None]]] = [
                bare,
                static_new,
                whole_life,
                static_old,
                created_old,
            ]
            for trial in trials if each % 2 == 0 else reversed(trials):
                await trial(world, notes)
    return _report(notes)


async def bare(world: World, notes: Notes) -> None:
    pod = rivals.bare_pod("bare", version=NEW, namespace=NAMESPACE)
    seconds = await world.timed(lambda: world.client.create(PODS, pod), lambda: world.ready(rivals.LABELS) == 1)
    notes.seconds["bare"].append(seconds)
    await world.gone(PODS, "bare", rivals.LABELS)


async def static_new(world: World, notes: Notes) -> None:
    notes.seconds["static, new"].append(await _static(world, NEW))


async def static_old(world: World, notes: Notes) -> None:
    notes.seconds["static, old"].append(await _static(world, OLD))


async def _static(world: World, version: str) -> float:
    async def create() -> None:
        await world.client.create(SERVICES, rivals.peer_service(NAMESPACE))
        await world.client.create(STATEFUL_SETS, rivals.stateful_set(version=version, namespace=NAMESPACE))

    seconds = await world.timed(create, lambda: world.ready(rivals.LABELS) == rivals.SIZE)
    await world.client.delete(SERVICES, rivals.SET, namespace=NAMESPACE)
    await world.gone(STATEFUL_SETS, rivals.SET, rivals.LABELS)
    return seconds


@dataclass(frozen=True, kw_only=True)
class Operation:
    """What is asked of the operator, and how many members there are to be then."""

    name: str
    version: str
    size: int
    begin: Callable[[], Awaitable[object]]
    without: str = ""  # the UID of a pod that does not count any more

    async def measure(self, world: World, notes: Notes) -> None:
        before = await world.scrape()
        seconds = await world.timed(self.begin, lambda: world.ready(members_of(CLUSTER), but=self.without) == self.size)
        await world.settled(CLUSTER, size=self.size, version=self.version)
        after = await world.scrape()
        notes.seconds[self.name].append(seconds)
        notes.calls[self.name].append(sum(after.calls_since(before).values()))


def creation(world: World, name: str, version: str) -> Operation:
    def begin() -> Awaitable[object]:
        return world.create_cluster(CLUSTER, size=SIZE, version=version)

    return Operation(name=name, version=version, size=SIZE, begin=begin)


async def loss(world: World) -> Operation:
    """Of a follower: what the loss of a leader does to clients is another benchmark's."""
    leader = (await world.status(CLUSTER))["leader"]
    victim = next(pod for pod in world.found(members_of(CLUSTER)) if pod.metadata.name != leader)

    def begin() -> Awaitable[object]:
        return world.delete_pod(victim.metadata.name)

    return Operation(name="healed", version=NEW, size=SIZE, begin=begin, without=victim.metadata.uid)


def growth(world: World) -> Operation:
    return Operation(name="grown", version=NEW, size=LARGER, begin=lambda: world.change_cluster(CLUSTER, size=LARGER))


async def created_old(world: World, notes: Notes) -> None:
    await creation(world, "created, old", OLD).measure(world, notes)
    await _delete(world)


async def whole_life(world: World, notes: Notes) -> None:
    """Created, healed and made larger."""
    await creation(world, "created, new", NEW).measure(world, notes)
    await asyncio.sleep(REST)
    await (await loss(world)).measure(world, notes)
    await asyncio.sleep(REST)
    await growth(world).measure(world, notes)
    await _delete(world)


async def _delete(world: World) -> None:
    await world.gone(ETCD_CLUSTERS, CLUSTER, members_of(CLUSTER))
    async with asyncio.timeout(60):
        while await _there(world):
            await asyncio.sleep(0.2)


async def _there(world: World) -> bool:
    """A cluster of the same name must not find the service of the one before."""
    try:
        await world.client.get(SERVICES, CLUSTER, namespace=NAMESPACE)
    except NotFoundError:
        return False
    return True


def _report(notes: Notes) -> list[Result]:
    ready = f"{SIZE} of {SIZE} ready"
    static = "the same three in a StatefulSet"
    ours, old = f"etcd {NEW}: created until {ready}", f"etcd {OLD}: created until {ready}"
    calls = {"created, new": f"create {SIZE} members", "healed": "replace a member", "grown": f"grow to {LARGER}"}
    return [
        notes.compared("created, new", "static, new", name=ours, bound=1.3, against=static),
        notes.compared("created, old", "static, old", name=old, bound=2.5, against=static),
        notes.compared("created, new", "bare", name=ours, bound=None),
        notes.compared("healed", "bare", name=f"etcd {NEW}: a member's pod deleted until {ready}", bound=3.0),
        notes.compared("grown", "bare", name=f"etcd {NEW}: {SIZE} to {LARGER} members", bound=3.5),
        *(
            Figure(name=f"calls of the Kubernetes API to {what}", unit="", values=tuple(notes.calls[key]))
            for key, what in calls.items()
        ),
    ]
