"""What is not begun: while the lease may pass to another, on what was seen long ago, or if it would be forgotten."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace

import msgspec
import pytest

from etcd_operator.api.cluster import ClusterStatus, Operation
from etcd_operator.cluster.access import Access
from etcd_operator.cluster.act import FRESH, Hands
from etcd_operator.cluster.caches import Caches
from etcd_operator.cluster.crowd import Crowd
from etcd_operator.cluster.dialling import Dial
from etcd_operator.cluster.housekeeping import keep_house, lets_in
from etcd_operator.cluster.isolation import Silences
from etcd_operator.cluster.memory import Memory
from etcd_operator.cluster.observe import Observer, Sight
from etcd_operator.cluster.outcome import NotDoneError
from etcd_operator.cluster.secrets import Secrets
from etcd_operator.cluster.turn import is_forgotten
from etcd_operator.cluster.writes import DEADLINE, MARGIN, Writes
from etcd_operator.etcd.call import CHANGE
from etcd_operator.etcd.metrics import MetricsPages
from etcd_operator.etcd.pool import Pool
from etcd_operator.kube.client import Client
from etcd_operator.kube.connection import Connection
from etcd_operator.kube.errors import UnreachableError
from etcd_operator.kube.expectations import Expectations
from etcd_operator.kube.lease import boot_clock
from etcd_operator.kube.objects import Metadata
from etcd_operator.kube.store import Key
from etcd_operator.plan.decision import Plan
from etcd_operator.plan.steps import (
    DeletePod,
    EnsureSurroundings,
    ExpandClaim,
    OpenGate,
    RemoveMember,
    StartMembers,
    Step,
    Wait,
)
from tests.unit.cluster.clusters import IMAGES, a_cluster
from tests.unit.cluster.views import a_view

NOWHERE = Connection("http://127.0.0.1:9")


@dataclass(frozen=True)
class Left:
    """A lease with so many seconds left."""

    seconds: float

    def still_ours(self, margin: float) -> bool:
        return margin < self.seconds


@pytest.fixture
async def observer() -> AsyncIterator[Observer]:
    """There is nobody to ask: whatever is sent fails at once, and tells that it was to be sent."""
    pages = MetricsPages()
    async with Client(NOWHERE, user_agent="tests") as client, Pool() as pool:
        yield Observer(
            client=client,
            caches=Caches(client, namespace=None),
            secrets=Secrets(client),
            pool=pool,
            pages=pages,
            silences=Silences(boot_clock),
            crowd=Crowd(),
            images=IMAGES,
        )
    await pages.close()


def writes(observer: Observer, *, left: float) -> Writes:
    cluster = Metadata(name="demo", namespace="prod", uid="u", resource_version="1")
    return Writes(observer.client, cluster, expectations=Expectations(), lease=Left(left))


def hands(observer: Observer, *, left: float = 100.0, age: float = 0.0) -> Hands:
    sight = Sight(a_view(), Dial(observer.pool, a_cluster(), Access()), asyncio.get_running_loop().time() - age)
    return Hands(sight=sight, observer=observer, writes=writes(observer, left=left))


@pytest.mark.parametrize("left", [0.0, DEADLINE, DEADLINE + MARGIN])
async def test_nothing_is_written_while_the_lease_may_end_before_the_answer(observer: Observer, left: float) -> None:
    manifest = {"metadata": {"name": "demo-a", "namespace": "prod"}}
    unheld, pods = writes(observer, left=left), observer.caches.pods

    for write in (
        unheld.create(pods, manifest),
        unheld.patch(pods, "demo-a", {}),
        unheld.apply(pods, manifest, force=False),
        unheld.annotate(observer.caches.clusters, {}),
    ):
        with pytest.raises(NotDoneError, match="lease"):
            await write


async def test_with_time_enough_it_is_written(observer: Observer) -> None:
    with pytest.raises(UnreachableError):
        await writes(observer, left=100.0).patch(observer.caches.pods, "demo-a", {})


async def test_a_change_of_members_needs_more_of_the_lease(observer: Observer) -> None:
    with pytest.raises(NotDoneError, match="lease"):
        await hands(observer, left=CHANGE).take(RemoveMember("demo-a", 1))


@pytest.mark.parametrize("step", [RemoveMember("demo-a", 1), DeletePod("demo-a", "u-1")], ids=["list", "pod"])
async def test_nobody_is_taken_out_on_what_was_seen_long_ago(observer: Observer, step: Step) -> None:
    with pytest.raises(NotDoneError) as refusal:
        await hands(observer, age=FRESH + 1).take(step)
    assert refusal.value.reason == "LookedTooLongAgo"

    with pytest.raises((UnreachableError, NotDoneError)) as tried:
        await hands(observer).take(step)
    assert getattr(tried.value, "reason", "") != "LookedTooLongAgo"


async def test_a_chore_that_cannot_be_done_is_told_and_holds_no_step_up(observer: Observer) -> None:
    decided = Plan(Wait(1.0), ClusterStatus(), "", chores=(ExpandClaim("demo-a", "c-1", "9Gi"),))
    memory, key = Memory(), Key("prod", "demo")

    assert (await keep_house(decided, hands(observer, left=0.0), memory=memory, key=key)).startswith("ExpandClaim was")


async def test_no_member_starts_without_its_services(observer: Observer) -> None:
    view = a_view(missing=("Service demo",))
    decided = Plan(StartMembers(()), ClusterStatus(), "", chores=(EnsureSurroundings(voters=0),))
    unheld = replace(hands(observer, left=0.0), sight=replace(hands(observer).sight, view=view))

    with pytest.raises((NotDoneError, UnreachableError)):
        await keep_house(decided, unheld, memory=Memory(), key=Key("prod", "demo"))


def test_a_member_that_could_not_be_marked_as_one_that_has_run_gets_no_clients() -> None:
    assert lets_in(OpenGate("demo-a", "u-1", open=True), {"demo-a"})
    assert not lets_in(OpenGate("demo-a", "u-1", open=False), {"demo-a"})
    assert not lets_in(OpenGate("demo-a", "u-1", open=True), {"demo-b"})


def test_an_intent_that_the_definition_does_not_know_is_forgotten() -> None:
    """Where somebody keeps the operator from bringing the definition up to date."""
    status = ClusterStatus(phase="Creating", operation=Operation(name="Bootstrap", members=("demo-a",), attempt=0))
    stored = msgspec.to_builtins(status)

    assert not is_forgotten(status, stored)
    assert is_forgotten(status, {"phase": "Creating"})
    assert is_forgotten(status, None)
    assert not is_forgotten(ClusterStatus(phase="Running"), {"phase": "Running"})
