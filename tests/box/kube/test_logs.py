"""What a container writes, read through the API server."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from datetime import UTC, datetime, timedelta

import pytest

from etcd_operator.kube.client import Client
from etcd_operator.kube.errors import ApiError, NotFoundError
from etcd_operator.kube.logs import LogOptions, logs
from tests.box.driving import Box
from tests.box.pods import pod, wait_ready

SAYS = "for i in 1 2 3; do echo line $i; done; while [ ! -e /tmp/more ]; do sleep 0.1; done; echo last; sleep 1000"
DIES = "[ -e /v/died ] && exec sleep 1000; touch /v/died; echo one; printf two; exit 1"


@pytest.fixture(scope="module")
def talker(box: Box, place: str) -> str:
    """A pod that says three lines, and one more when it is told to; beside it one that dies once."""
    box.apply(pod("talker", place, command=["sh", "-c", SAYS]))
    volume = {"name": "v", "emptyDir": {}}
    mounts = [{"name": "v", "mountPath": "/v"}]
    box.apply(pod("mortal", place, command=["sh", "-c", DIES], volumes=[volume], mounts=mounts))
    wait_ready(box, place, "talker")
    return "talker"


async def read(client: Client, pod: str, namespace: str, **options: object) -> list[str]:
    chosen = LogOptions(**options)  # type: ignore[arg-type]
    return [line async for line in logs(client, pod, namespace=namespace, options=chosen)]


async def test_a_log_is_read_line_by_line(client: Client, talker: str, place: str) -> None:
    assert await read(client, talker, place) == ["line 1", "line 2", "line 3"]


async def test_only_its_end_can_be_asked_for(client: Client, talker: str, place: str) -> None:
    assert await read(client, talker, place, tail=2) == ["line 2", "line 3"]
    assert await read(client, talker, place, since=datetime.now(UTC) + timedelta(hours=1)) == []
    assert len(await read(client, talker, place, since=3600.0)) == 3


async def test_lines_can_have_their_times(client: Client, talker: str, place: str) -> None:
    first = (await read(client, talker, place, timestamps=True))[0]

    moment, _, text = first.partition(" ")
    assert text == "line 1"
    assert datetime.fromisoformat(moment[:19]) > datetime(2026, 1, 1)  # noqa: DTZ001 - the zone is cut off


async def test_a_log_that_is_followed_goes_on_when_there_is_more(
    box: Box, client: Client, talker: str, place: str
) -> None:
    seen: list[str] = []
    async with aclosing(logs(client, talker, namespace=place, options=LogOptions(follow=True))) as lines:
        async with asyncio.timeout(30):
            async for line in lines:
                seen.append(line)
                if line == "line 3":
                    await asyncio.to_thread(box.exec, place, talker, "touch", "/tmp/more")
                if line == "last":
                    break

    assert seen == ["line 1", "line 2", "line 3", "last"]


async def test_the_life_before_the_last_restart_can_be_asked_for(client: Client, talker: str, place: str) -> None:
    async def last_words() -> list[str]:
        async with asyncio.timeout(60):
            while True:
                try:
                    return await read(client, "mortal", place, previous=True)
                except ApiError:  # it has no life before this one yet
                    await asyncio.sleep(0.2)

    assert await last_words() == ["one", "two"]  # a last line without an end is a line


async def test_what_is_not_there_is_said_in_the_servers_words(client: Client, talker: str, place: str) -> None:
    with pytest.raises(NotFoundError, match='pods "nobody" not found'):
        await read(client, "nobody", place)
    with pytest.raises(ApiError, match="container nothing is not valid for pod talker"):
        await read(client, talker, place, container="nothing")
