"""Whether an old operator is at work beside this one."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime, timedelta

import pytest

from etcd_operator.cli.old_lock import ANNOTATION, Judgement, OldLock, OldOperatorError
from etcd_operator.kube.errors import ForbiddenError, NotFoundError, UnreachableError
from etcd_operator.kube.objects import Metadata, PartialObject
from etcd_operator.kube.resources import ENDPOINTS, Resource
from tests.unit.kube.virtual_time import in_virtual_time, now

TODAY = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)


def record(holder: str = "old-1", *, renewed: datetime = TODAY, duration: int = 15) -> str:
    return json.dumps(
        {
            "holderIdentity": holder,
            "leaseDurationSeconds": duration,
            "acquireTime": "2019-02-27T00:00:00Z",
            "renewTime": renewed.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "leaderTransitions": 3,
        }
    )


def holders(*sights: tuple[float, str]) -> list[str]:
    """Who may be at work, for each of several looks at a time each."""
    judgement = Judgement()
    return [judgement.holder(text, now=at, today=TODAY) for at, text in sights]


def test_without_a_record_nobody_is_at_work() -> None:
    assert holders((0, "")) == [""]


def test_a_fresh_record_is_believed_for_as_long_as_it_lasts_and_no_longer() -> None:
    assert holders((100, record()), (114.9, record()), (115, record())) == ["old-1", "old-1", ""]


def test_a_record_that_changes_is_somebody_alive() -> None:
    later = record(renewed=TODAY + timedelta(seconds=2))

    assert holders((100, record()), (114, later), (128, later), (129, later)) == ["old-1", "old-1", "old-1", ""]


def test_a_record_that_was_taken_for_dead_and_changes_is_somebody_alive() -> None:
    assert holders((0, record()), (20, record()), (500, record("old-2"))) == ["old-1", "", "old-2"]


def test_its_own_duration_counts() -> None:
    text = record(duration=60)

    assert holders((0, text), (59, text), (60, text)) == ["old-1", "old-1", ""]


def test_clocks_that_disagree_by_minutes_do_not_matter() -> None:
    slow, fast = (record(renewed=TODAY + timedelta(minutes=minutes)) for minutes in (-50, 50))

    assert holders((0, slow), (20, fast)) == ["old-1", "old-1"]


def test_nobody_waits_for_an_operator_that_ended_long_ago() -> None:
    assert holders((0, record(renewed=TODAY - timedelta(hours=2)))) == [""]


def test_a_record_that_names_nobody_is_free() -> None:
    assert holders((0, record(""))) == [""]


@pytest.mark.parametrize("text", ["{", '{"holderIdentity": 7}', "[]", '{"holderIdentity":"x","renewTime":"soon"}'])
def test_a_record_that_cannot_be_read_counts_as_held_until_it_has_been_still(text: str) -> None:
    first, last = holders((0, text), (15, text))

    assert first
    assert last == ""


class Endpoints:
    """The object as it is at each moment: an annotation, or what reading it ends with."""

    def __init__(self) -> None:
        self.state: str | Exception = ""

    async def get(
        self, resource: Resource, name: str, /, *, namespace: str, into: type[PartialObject]
    ) -> PartialObject:
        assert (resource, name, namespace) == (ENDPOINTS, "etcd-operator", "etcd")
        if isinstance(self.state, Exception):
            raise self.state
        return PartialObject(Metadata(annotations={ANNOTATION: self.state}))

    async def renewed(self, *, seconds: float) -> None:
        for turn in range(int(seconds / 2)):
            self.state = record(renewed=datetime.now(UTC) + timedelta(seconds=turn))
            await asyncio.sleep(2)


def test_it_waits_while_the_old_operator_renews_and_one_duration_more() -> None:
    async def story() -> None:
        endpoints, told = Endpoints(), list[str]()
        renewing = asyncio.create_task(endpoints.renewed(seconds=120))
        await asyncio.sleep(1)

        await OldLock(endpoints, "etcd").until_free(told.append)

        await renewing
        assert 118 + 15 <= now() <= 120 + 15 + 2
        (sentence,) = told
        assert "The old operator old-1 holds the lock on the Endpoints etcd/etcd-operator" in sentence

    in_virtual_time(story())


def test_without_the_object_it_begins_at_once() -> None:
    async def story() -> None:
        endpoints, told = Endpoints(), list[str]()
        endpoints.state = NotFoundError("no", status=404)

        await OldLock(endpoints, "etcd").until_free(told.append)

        assert now() == 0
        assert told == []

    in_virtual_time(story())


def test_a_record_that_was_seen_long_before_the_lease_came_is_not_waited_for() -> None:
    async def story() -> None:
        endpoints, told = Endpoints(), list[str]()
        endpoints.state = record(renewed=datetime.now(UTC))
        lock = OldLock(endpoints, "etcd")
        assert await lock.look() == "old-1"
        await asyncio.sleep(60)

        await lock.until_free(told.append)

        assert now() == 60
        assert told == []

    in_virtual_time(story())


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ForbiddenError("no", status=403), "lacks the right to get endpoints"),
        (UnreachableError("the wire is cut"), "the wire is cut"),
    ],
)
def test_as_long_as_it_cannot_be_known_nothing_is_done(error: Exception, words: str) -> None:
    async def story() -> None:
        endpoints, told = Endpoints(), list[str]()
        endpoints.state = error
        waiting = asyncio.create_task(OldLock(endpoints, "etcd").until_free(told.append))

        await asyncio.sleep(3600)
        assert not waiting.done()
        assert [words in sentence for sentence in told] == [True]

        endpoints.state = ""
        await asyncio.wait_for(waiting, 60)

    in_virtual_time(story())


def test_an_old_operator_that_begins_later_is_noticed() -> None:
    async def story() -> None:
        endpoints, told = Endpoints(), list[str]()
        lock = OldLock(endpoints, "etcd")
        await lock.until_free(told.append)
        watching = asyncio.create_task(lock.watched())

        await asyncio.sleep(3600)
        endpoints.state = UnreachableError("a moment")
        await asyncio.sleep(60)
        assert not watching.done()

        renewing = asyncio.create_task(endpoints.renewed(seconds=60))
        with pytest.raises(OldOperatorError, match="The old operator old-1 has taken the lock"):
            await asyncio.wait_for(watching, 15)
        await renewing

    in_virtual_time(story())
