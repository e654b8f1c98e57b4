"""A small controller made of the parts: informers wake loops, loops write, and never act on what they have not seen.

For every ConfigMap labelled `kind=owner` it keeps as many children as `data.children` says, with names that nobody can
guess: so one that acts on an old cache would make too many of them.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from etcd_operator.kube import wakes
from etcd_operator.kube.client import Client
from etcd_operator.kube.connection import Connection
from etcd_operator.kube.expectations import Expectations
from etcd_operator.kube.informer import Informer
from etcd_operator.kube.loops import GONE, Loops, Rest
from etcd_operator.kube.objects import Manifest, PartialObject
from etcd_operator.kube.requests import PatchKind, Selection
from etcd_operator.kube.resources import CONFIG_MAPS, SECRETS
from etcd_operator.kube.store import Key, key_of, owner_uids
from tests.box.kube.relay import relayed
from tests.box.kube.watching import LIMIT, Note


def an_owner(name: str, namespace: str, *, children: int) -> Manifest:
    metadata = {"name": name, "namespace": namespace, "labels": {"kind": "owner"}}
    return {"metadata": metadata, "data": {"children": str(children)}}


def a_child(owner: Note) -> Manifest:
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": owner.metadata.name, "uid": owner.metadata.uid}
    name = f"{owner.metadata.name}-{secrets.token_hex(5)}"
    return {"metadata": {"name": name, "namespace": owner.metadata.namespace, "ownerReferences": [reference]}}


class Controller:
    def __init__(self, client: Client, watcher: Client, namespace: str) -> None:
        self.client = client
        self.owners = Informer(watcher, Selection(CONFIG_MAPS, namespace=namespace, labels="kind=owner"), into=Note)
        self.children = Informer(watcher, Selection(SECRETS, namespace=namespace), into=PartialObject)
        self.of_owner = self.children.store.index(owner_uids)
        self.loops = Loops(self.turn)
        self.expectations: dict[Key, Expectations] = {}
        self.created = self.deleted = 0

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        tasks = {asyncio.create_task(informer.run()) for informer in (self.owners, self.children)}
        try:
            await self.owners.synced.wait()
            await self.children.synced.wait()
            async with self.loops:
                self.owners.subscribe(wakes.by_itself(self.loops))
                self.children.subscribe(wakes.by_owner(self.loops, CONFIG_MAPS))
                yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)

    async def turn(self, key: Key) -> Rest:
        """One step, then another look."""
        expectations = self.expectations.setdefault(key, Expectations())
        await expectations.met()
        owner = self.owners.store.get(key)
        if owner is None:
            del self.expectations[key]
            return GONE
        present = self.of_owner[owner.metadata.uid]
        wanted = int(owner.data["children"])
        if len(present) < wanted:
            self.created += 1
            made = await self.client.create(SECRETS, a_child(owner))
            expectations.written(self.children, made["metadata"]["resourceVersion"])
        elif len(present) > wanted:
            victim = present[0]
            uid = victim.metadata.uid
            self.deleted += 1
            await self.client.delete(SECRETS, victim.metadata.name, namespace=key.namespace, uid=uid)
            expectations.deleted(self.children, key_of(victim), uid=uid)
        else:
            return None
        return 0.0


@pytest.fixture
async def controller(client: Client, connection: Connection, namespace: str) -> AsyncIterator[Controller]:
    """What it watches comes a while after the answers to what it writes, as it does from a busy server."""
    async with (
        relayed(connection) as relay,
        Client(relay.connection, user_agent="etcd-operator/test (late)") as watcher,
    ):
        made = Controller(client, watcher, namespace)
        async with made.running():
            relay.lag = 0.2
            yield made


async def settled(controller: Controller, owner: Manifest, children: int) -> None:
    uid = owner["metadata"]["uid"]
    async with asyncio.timeout(LIMIT):
        await controller.children.until(lambda: len(controller.of_owner[uid]) == children)


async def test_a_loop_never_makes_what_it_has_just_made(client: Client, controller: Controller, namespace: str) -> None:
    made = await client.create(CONFIG_MAPS, an_owner("many", namespace, children=8))

    await settled(controller, made, 8)
    await asyncio.sleep(1)

    secrets_there = await client.list(SECRETS, namespace=namespace, into=PartialObject)
    assert len(secrets_there.items) == 8
    assert (controller.created, controller.deleted) == (8, 0)


async def test_a_child_that_somebody_deletes_wakes_the_loop_of_its_owner(
    client: Client, controller: Controller, namespace: str
) -> None:
    made = await client.create(CONFIG_MAPS, an_owner("robbed", namespace, children=3))
    await settled(controller, made, 3)
    victim = controller.of_owner[made["metadata"]["uid"]][0]

    await client.delete(SECRETS, victim.metadata.name, namespace=namespace)
    async with asyncio.timeout(LIMIT):
        await controller.children.until(lambda: controller.children.store.get(key_of(victim)) is None)
    await settled(controller, made, 3)

    assert controller.created == 4


async def test_a_new_wish_wakes_the_loop_of_the_object(client: Client, controller: Controller, namespace: str) -> None:
    made = await client.create(CONFIG_MAPS, an_owner("fickle", namespace, children=5))
    await settled(controller, made, 5)

    patch = {"data": {"children": "2"}}
    await client.patch(CONFIG_MAPS, "fickle", patch, kind=PatchKind.MERGE, namespace=namespace)
    await settled(controller, made, 2)

    assert (controller.created, controller.deleted) == (5, 3)


async def test_the_loop_of_a_deleted_object_ends_and_leaves_nothing(
    client: Client, controller: Controller, namespace: str
) -> None:
    made = await client.create(CONFIG_MAPS, an_owner("mortal", namespace, children=1))
    await settled(controller, made, 1)
    assert len(controller.loops) == 1

    await client.delete(CONFIG_MAPS, "mortal", namespace=namespace)
    async with asyncio.timeout(LIMIT):
        while len(controller.loops):  # noqa: ASYNC110 - nothing tells of it
            await asyncio.sleep(0.05)

    assert controller.expectations == {}
