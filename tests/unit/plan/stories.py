"""What an operator does for a living, each as a world in which it is about to be done."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.unit.plan.world import World, a_running_cluster


@dataclass(frozen=True)
class Story:
    """How it begins, and what is done to it then."""

    begin: Callable[[], World]
    then: Callable[[World], None] = lambda world: None
    changes: int = 0  # members that come or go

    def told(self) -> World:
        world = self.begin()
        world.careful = False
        self.then(world)
        return world


def sized(size: int) -> Callable[[World], None]:
    return lambda world: setattr(world, "size", size)


def versioned(version: str) -> Callable[[World], None]:
    return lambda world: setattr(world, "version", version)


def rolled(world: World) -> None:
    world.policy = "p2"


def one_lost(world: World) -> None:
    world.lose_pod(world.names[0])


def one_wiped(world: World) -> None:
    world.wipe(world.names[0])


STORIES = {
    "bootstrap": Story(World, changes=2),
    "bootstrap on claims": Story(lambda: World(claims=True), changes=2),
    "bootstrap of 3.5": Story(lambda: World(version="3.5.35"), changes=2),
    "bootstrap of 3.2": Story(lambda: World(version="3.2.13"), changes=2),
    "1 to 3": Story(lambda: a_running_cluster(1), sized(3), changes=2),
    "1 to 3 of 3.3": Story(lambda: a_running_cluster(1, version="3.3.27"), sized(3), changes=2),
    "3 to 5": Story(lambda: a_running_cluster(3, claims=True), sized(5), changes=2),
    "3 to 5 of 3.5": Story(lambda: a_running_cluster(3, version="3.5.35"), sized(5), changes=2),
    "5 to 3": Story(lambda: a_running_cluster(5, claims=True), sized(3), changes=2),
    "3 to 1": Story(lambda: a_running_cluster(3), sized(1), changes=2),
    "replace": Story(lambda: a_running_cluster(3), one_lost, changes=2),
    "replace on claims": Story(lambda: a_running_cluster(3, claims=True), one_wiped, changes=2),
    "replace of 3.4": Story(lambda: a_running_cluster(3, version="3.4.45"), one_lost, changes=2),
    "return": Story(lambda: a_running_cluster(3, claims=True), one_lost),
    "roll": Story(lambda: a_running_cluster(3), rolled, changes=6),
    "roll of one": Story(lambda: a_running_cluster(1), rolled, changes=2),
    "roll on claims": Story(lambda: a_running_cluster(3, claims=True), rolled),
    "roll of one on a claim": Story(lambda: a_running_cluster(1, claims=True), rolled),
    "upgrade": Story(lambda: a_running_cluster(3, version="3.5.35"), versioned("3.6.16")),
    "upgrade on claims": Story(lambda: a_running_cluster(3, version="3.6.16", claims=True), versioned("3.7.3")),
    "upgrade of one": Story(lambda: a_running_cluster(1, version="3.6.16"), versioned("3.7.3")),
    "upgrade of one on a claim": Story(lambda: a_running_cluster(1, claims=True), versioned("3.7.3")),
}
