"""What can happen to a cluster at any moment, and what stops happening."""

from __future__ import annotations

from collections.abc import Callable

from etcd_operator.plan.view import Stage
from etcd_operator.releases.version import Series
from tests.unit.plan.scene import NODES
from tests.unit.plan.world import World

Fault = Callable[[World, int], None]  # the number chooses whom it hits


def _pod(world: World, number: int) -> str | None:
    names = sorted(world.pods)
    return names[number % len(names)] if names else None


def lose_pod(world: World, number: int) -> None:
    if name := _pod(world, number):
        world.lose_pod(name)


def delete_pod(world: World, number: int) -> None:
    if name := _pod(world, number):
        world.delete_pod(name)


def freeze(world: World, number: int) -> None:
    if name := _pod(world, number):
        world.freeze(name)


def thaw(world: World, _: int) -> None:
    for name in world.pods:
        world.thaw(name)


def wipe_disk(world: World, number: int) -> None:
    name = _pod(world, number)
    if name and world.pods[name].stage is Stage.STARTED:
        world.wipe(name)


def delete_claim(world: World, number: int) -> None:
    names = sorted(world.disks)
    if names:
        world.delete_claim(names[number % len(names)])


def lose_node(world: World, number: int) -> None:
    if not world.lost_nodes:
        world.lose_node(NODES[number % len(NODES)])


def return_node(world: World, _: int) -> None:
    for node in NODES:
        world.return_node(node)


def wipe_status(world: World, _: int) -> None:
    world.wipe_status()


def no_room(world: World, _: int) -> None:
    world.full = True


def room_again(world: World, _: int) -> None:
    world.full = False


def pause(world: World, _: int) -> None:
    world.paused = True


def resume(world: World, _: int) -> None:
    world.paused = False


def resize(world: World, number: int) -> None:
    world.size = (1, 3, 5, 2, 3)[number % 5]


def change_version(world: World, number: int) -> None:
    world.version = ("3.6.16", "3.6.17", "3.7.3", "3.6.15")[number % 4]


def change_policy(world: World, number: int) -> None:
    world.policy = ("p1", "p2")[number % 2]


def remove_member(world: World, number: int) -> None:
    """As etcd lets one do it: those who stay are a majority."""
    name = world.names[number % len(world.names)] if world.members else ""
    rest = [member for member in world.voters if member.name != name]
    if world.has_quorum() and sum(map(world.alive, rest)) > len(rest) // 2:
        world.remove_by_hand(name)


def add_learner(world: World, number: int) -> None:
    if world.has_quorum() and world.series >= Series(3, 4):
        world.add_by_hand(f"demo-hand{number}{next(world.numbers)}", learner=True, ours=bool(number % 2))


def add_voter(world: World, number: int) -> None:
    if world.has_quorum() and len(world.voters) > 2:
        world.add_by_hand(f"demo-hand{number}{next(world.numbers)}", learner=False, ours=bool(number % 2))


def bad_image(world: World, number: int) -> None:
    """One that is wanted next never starts."""
    version = ("3.6.17", "3.7.3")[number % 2]
    if not any(version in (str(pod.runs), str(pod.version)) for pod in world.pods.values()):
        world.bad_versions = (version,)


# All that goes by in the end, so that only what was destroyed is gone.
ENDINGS: tuple[Fault, ...] = (thaw, return_node, room_again, resume)


def end(world: World) -> None:
    for each in ENDINGS:
        each(world, 0)
