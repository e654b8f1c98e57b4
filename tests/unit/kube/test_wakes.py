from __future__ import annotations

import asyncio
from collections.abc import Callable

import msgspec
import pytest

from etcd_operator.kube import wakes
from etcd_operator.kube.backoff import Backoff
from etcd_operator.kube.loops import Loops, Rest
from etcd_operator.kube.objects import PartialObject
from etcd_operator.kube.resources import CONFIG_MAPS, ETCD_CLUSTERS, NODES, SECRETS, Resource
from etcd_operator.kube.store import Difference, Key, Named
from tests.unit.kube.objects import an_object
from tests.unit.kube.virtual_time import in_virtual_time, longest, now

Wiring = Callable[[Loops[Key]], Callable[[Difference[Named]], None]]


def woken(wiring: Wiring, *differences: Difference[PartialObject]) -> list[str]:
    """Whose loops ran."""
    ran: list[str] = []

    async def body(key: Key) -> Rest:
        ran.append(str(key))
        return None

    async def story() -> None:
        async with Loops(body) as loops:
            heard = wiring(loops)
            for difference in differences:
                heard(difference)
            await asyncio.sleep(1)

    in_virtual_time(story())
    return ran


def with_owner(child: PartialObject, *, api_version: str, kind: str) -> PartialObject:
    reference = msgspec.structs.replace(child.metadata.owner_references[0], api_version=api_version, kind=kind)
    return PartialObject(msgspec.structs.replace(child.metadata, owner_references=(reference,)))


def test_an_object_wakes_its_own_loop() -> None:
    assert woken(wakes.by_itself, Difference(None, an_object("a")), Difference(an_object("b"), None)) == [
        "ns/a",
        "ns/b",
    ]


def test_a_child_wakes_the_loop_of_its_owner() -> None:
    child = an_object("child", owner="a")

    assert woken(lambda loops: wakes.by_owner(loops, CONFIG_MAPS), Difference(None, child)) == ["ns/a"]


def test_a_child_that_changes_hands_wakes_both() -> None:
    change = Difference(an_object("child", owner="a"), an_object("child", owner="b", version=2))

    assert sorted(woken(lambda loops: wakes.by_owner(loops, CONFIG_MAPS), change)) == ["ns/a", "ns/b"]


@pytest.mark.parametrize(
    ("owner", "api_version", "kind", "expected"),
    [
        (ETCD_CLUSTERS, "etcd.database.coreos.com/v1beta2", "EtcdCluster", ["ns/a"]),
        (ETCD_CLUSTERS, "etcd.database.coreos.com/v1beta1", "EtcdCluster", ["ns/a"]),
        (ETCD_CLUSTERS, "operator.etcd.io/v1alpha1", "EtcdCluster", []),
        (ETCD_CLUSTERS, "etcd.database.coreos.com/v1beta2", "EtcdBackup", []),
        (SECRETS, "v1", "Secret", ["ns/a"]),
        (NODES, "v1", "Node", ["a"]),
    ],
)
def test_an_owner_is_known_by_its_group_and_kind(
    owner: Resource, api_version: str, kind: str, expected: list[str]
) -> None:
    child = with_owner(an_object("child", owner="a"), api_version=api_version, kind=kind)

    assert woken(lambda loops: wakes.by_owner(loops, owner), Difference(None, child)) == expected


@pytest.mark.parametrize(
    ("new", "at_once"),
    [
        (an_object("a", version=2, generation=2), True),
        (an_object("a", version=2, generation=1, doomed=True), True),
        (an_object("a", version=2, generation=1), False),
    ],
    ids=["a new spec", "a deletion", "a new status"],
)
def test_only_what_was_done_on_purpose_ends_a_back_off(new: PartialObject, *, at_once: bool) -> None:
    times: list[float] = []

    async def body(key: Key) -> Rest:
        times.append(now())
        raise ValueError("no")

    async def story() -> None:
        backoff = Backoff(first=100, cap=100)
        async with Loops(body, backoff=backoff, report=lambda failure: None, uniform=longest) as loops:
            old = an_object("a", generation=1)
            wakes.by_itself(loops)(Difference(None, old))
            await asyncio.sleep(10)
            wakes.by_itself(loops)(Difference(old, new))
            await asyncio.sleep(30)

    in_virtual_time(story())

    assert times == ([0, 10] if at_once else [0, 25])
