"""Events as people see them with kubectl, and as the API server checks them."""

from __future__ import annotations

import asyncio
from typing import Any

from etcd_operator.kube.client import Client
from etcd_operator.kube.events import EventType, Reference, Reporter, reference
from etcd_operator.kube.objects import PartialObject
from etcd_operator.kube.recorder import Limits, Recorder
from etcd_operator.kube.resources import CONFIG_MAPS, EVENTS, NODES
from tests.box.driving import Box
from tests.box.kube.notes import note

REPORTER = Reporter("etcd.database.coreos.com/etcd-operator", "etcd-operator-7d9c-x2x8z")


async def an_object(client: Client, namespace: str, name: str) -> Reference:
    made = await client.create(CONFIG_MAPS, note(name, namespace), into=PartialObject)
    return reference(CONFIG_MAPS, made)


async def posted(client: Client, regarding: Reference) -> list[dict[str, Any]]:
    selector = f"regarding.name={regarding.name}"
    return (await client.list(EVENTS, namespace=regarding.namespace or "default", field_selector=selector)).items


async def test_repetitions_are_one_line_that_says_how_often(box: Box, client: Client, place: str) -> None:
    regarding = await an_object(client, place, "repeats")
    async with Recorder(client, REPORTER, limits=Limits(spacing=0.2)) as recorder:
        for _ in range(7):
            recorder.record(regarding, reason="MemberUnhealthy", note="demo-a does not answer.", type=EventType.WARNING)
            await asyncio.sleep(0.1)
        recorder.record(regarding, reason="MemberReplaced", note="demo-a is replaced by demo-b.")

    described = await asyncio.to_thread(box.kubectl, "describe", "configmap", "repeats", "-n", place)
    listed = await asyncio.to_thread(box.kubectl, "get", "events", "-n", place)

    (line,) = [line for line in described.splitlines() if "MemberUnhealthy" in line]
    assert line.split()[:2] == ["Warning", "MemberUnhealthy"]
    assert "(x7 over" in line
    assert REPORTER.controller in line
    assert line.endswith("demo-a does not answer.")
    assert "MemberReplaced" in described
    assert sum("MemberUnhealthy" in line and "configmap/repeats" in line for line in listed.splitlines()) == 1
    assert recorder.counts.failed == recorder.counts.dropped == 0
    assert recorder.counts.created == 2


async def test_texts_of_any_length_are_accepted(client: Client, place: str) -> None:
    made = await client.create(CONFIG_MAPS, {"metadata": {"name": "n" * 253, "namespace": place}}, into=PartialObject)
    regarding = reference(CONFIG_MAPS, made)
    async with Recorder(client, Reporter(REPORTER.controller, "ä" * 200)) as recorder:
        recorder.record(regarding, reason="ä" * 200, note="ö" * 3000, action="ü" * 200)

    (event,) = await posted(client, regarding)
    assert recorder.counts.failed == 0
    assert event["note"].startswith("öö")
    assert event["note"].endswith("…")


async def test_a_node_has_its_events_in_the_default_namespace(client: Client) -> None:
    nodes = await client.list(NODES, into=PartialObject)
    regarding = reference(NODES, nodes.items[0])
    async with Recorder(client, REPORTER) as recorder:
        recorder.record(regarding, reason="MemberMoved", note="demo-a now runs here.")

    assert "MemberMoved" in {event["reason"] for event in await posted(client, regarding)}


async def test_an_event_that_is_first_posted_after_repetitions_has_its_count(client: Client, place: str) -> None:
    regarding = await an_object(client, place, "late")
    async with Recorder(client, REPORTER) as recorder:
        for _ in range(3):
            recorder.record(regarding, reason="Paused", note="as the spec says")

    (event,) = await posted(client, regarding)
    assert event["series"]["count"] == 3


async def test_a_series_goes_on_when_the_server_has_dropped_its_event(client: Client, place: str) -> None:
    regarding = await an_object(client, place, "expired")
    async with Recorder(client, REPORTER, limits=Limits(spacing=0.1)) as recorder:
        recorder.record(regarding, reason="Paused", note="as the spec says")
        async with asyncio.timeout(30):
            while recorder.counts.created == 0:  # noqa: ASYNC110 - nobody waits for events but tests
                await asyncio.sleep(0.05)
        found = await posted(client, regarding)
        await client.delete(EVENTS, found[0]["metadata"]["name"], namespace=place)
        recorder.record(regarding, reason="Paused", note="as the spec says")

    (event,) = await posted(client, regarding)
    assert event["series"]["count"] == 2
    assert event["metadata"]["name"] != found[0]["metadata"]["name"]


async def test_an_object_of_a_namespace_that_is_gone_hurts_nobody(client: Client, place: str) -> None:
    gone = Reference("v1", "ConfigMap", "nobody", namespace="no-such-namespace", uid="1")
    regarding = await an_object(client, place, "neighbour")
    async with Recorder(client, REPORTER) as recorder:
        recorder.record(gone, reason="Paused", note="as the spec says")
        recorder.record(regarding, reason="Paused", note="as the spec says")

    assert recorder.counts.failed == 1
    assert len(await posted(client, regarding)) == 1
