from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

import pytest

from etcd_operator.kube.backoff import Backoff
from etcd_operator.kube.errors import ForbiddenError, ServerError, UnreachableError
from etcd_operator.kube.events import EventType, Reference, Reporter
from etcd_operator.kube.recorder import Limits, Recorder
from tests.unit.kube.board import Board
from tests.unit.kube.virtual_time import in_virtual_time, longest, now

DEMO = Reference("etcd.database.coreos.com/v1beta2", "EtcdCluster", "demo", namespace="ns", uid="uid-1")
OTHER = Reference("etcd.database.coreos.com/v1beta2", "EtcdCluster", "other", namespace="ns", uid="uid-2")
LIMITS = Limits(window=600, spacing=30, burst=5, every=60, series=50, tries=4, backoff=Backoff(first=1, cap=8))
NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)

Story = Callable[[Recorder, Board], Awaitable[None]]


def a_recorder(board: Board) -> Recorder:
    return Recorder(
        board,
        Reporter("etcd.database.coreos.com/etcd-operator", "pod-1"),
        limits=LIMITS,
        now=lambda: NOON + timedelta(seconds=now()),
        uniform=longest,
    )


def told(story: Story) -> tuple[Recorder, Board]:
    async def life() -> tuple[Recorder, Board]:
        board = Board()
        async with a_recorder(board) as recorder:
            await story(recorder, board)
        return recorder, board

    return in_virtual_time(life())


def test_an_event_says_what_happened_to_whom_when_and_who_says_so() -> None:
    async def story(recorder: Recorder, board: Board) -> None:
        await asyncio.sleep(1.5)
        recorder.record(
            DEMO, reason="QuorumLost", note="1 of 3 members answers.", action="Observe", type=EventType.WARNING
        )
        await asyncio.sleep(1)

    _, board = told(story)

    name = board.only["metadata"].pop("name")
    assert name.startswith("demo.")
    assert board.only == {
        "metadata": {"namespace": "ns"},
        "eventTime": "2026-11-15T12:00:01.500000Z",
        "reportingController": "etcd.database.coreos.com/etcd-operator",
        "reportingInstance": "pod-1",
        "action": "Observe",
        "reason": "QuorumLost",
        "regarding": {
            "apiVersion": "etcd.database.coreos.com/v1beta2",
            "kind": "EtcdCluster",
            "name": "demo",
            "namespace": "ns",
            "uid": "uid-1",
        },
        "note": "1 of 3 members answers.",
        "type": "Warning",
    }


def test_the_same_event_again_is_counted_in_a_series_and_not_too_often() -> None:
    async def story(recorder: Recorder, board: Board) -> None:
        for _ in range(100):
            recorder.record(DEMO, reason="MemberUnhealthy", note="demo-a does not answer.")
            await asyncio.sleep(1)

    recorder, board = told(story)

    assert board.calls == [(0, "create"), (30, "patch"), (60, "patch"), (90, "patch"), (100, "patch")]
    assert board.only["series"] == {"count": 100, "lastObservedTime": "2026-11-15T12:01:39.000000Z"}
    assert recorder.counts.created == 1
    assert recorder.counts.patched == 4


@pytest.mark.parametrize(
    "other",
    [
        {"regarding": OTHER},
        {"reason": "MemberReplaced"},
        {"note": "demo-b does not answer."},
        {"type": EventType.WARNING},
        {"action": "Replace"},
    ],
    ids=lambda other: next(iter(other)),
)
def test_an_event_that_differs_in_anything_is_another_one(other: dict[str, object]) -> None:
    async def story(recorder: Recorder, board: Board) -> None:
        first = {"regarding": DEMO, "reason": "MemberUnhealthy", "note": "demo-a does not answer."}
        recorder.record(**first)  # type: ignore[arg-type]
        recorder.record(**{**first, **other})  # type: ignore[arg-type]
        await asyncio.sleep(1)

    _, board = told(story)

    assert len(board.events) == 2


def test_after_a_quiet_while_the_same_is_news_again() -> None:
    async def story(recorder: Recorder, board: Board) -> None:
        recorder.record(DEMO, reason="Paused", note="as the spec says")
        await asyncio.sleep(LIMITS.window + 1)
        recorder.record(DEMO, reason="Paused", note="as the spec says")
        await asyncio.sleep(1)

    _, board = told(story)

    assert len(board.events) == 2


def test_an_object_with_too_many_different_events_loses_some_and_others_do_not() -> None:
    async def story(recorder: Recorder, board: Board) -> None:
        for number in range(20):
            recorder.record(DEMO, reason="Odd", note=f"number {number}")
        recorder.record(OTHER, reason="Odd", note="the only one")
        await asyncio.sleep(LIMITS.every)
        recorder.record(DEMO, reason="Odd", note="a minute later")
        await asyncio.sleep(1)

    recorder, board = told(story)

    notes = [event["note"] for event in board.events.values()]
    assert notes == [*(f"number {number}" for number in range(5)), "the only one", "a minute later"]
    assert recorder.counts.dropped == 15


def test_too_many_events_of_all_objects_are_not_kept() -> None:
    async def story(recorder: Recorder, board: Board) -> None:
        board.refusal = UnreachableError("away")
        for number in range(100):
            recorder.record(Reference("v1", "Pod", f"pod-{number}", namespace="ns"), reason="Odd", note="odd")
        await asyncio.sleep(1)
        board.refusal = None

    recorder, board = told(story)

    assert len(board.events) == LIMITS.series
    assert recorder.counts.dropped == 100 - LIMITS.series


def test_what_cannot_be_posted_now_is_posted_when_the_server_is_back() -> None:
    async def story(recorder: Recorder, board: Board) -> None:
        board.refusal = UnreachableError("away")
        recorder.record(DEMO, reason="MemberAdded", note="demo-a")
        await asyncio.sleep(2)
        recorder.record(DEMO, reason="MemberAdded", note="demo-a")
        board.refusal = None
        await asyncio.sleep(10)

    recorder, board = told(story)

    assert board.only["series"]["count"] == 2
    assert board.only["eventTime"].startswith("2026-11-15T12:00:00")
    assert recorder.counts.failed == 0


def test_tries_are_limited_and_rare() -> None:
    async def story(recorder: Recorder, board: Board) -> None:
        board.refusal = ServerError("overloaded", status=503)
        recorder.record(DEMO, reason="MemberAdded", note="demo-a")
        await asyncio.sleep(600)
        assert [when for when, _ in board.calls] == [0, 1, 3, 7]

    recorder, _ = told(story)

    assert recorder.counts.failed == 1


def test_a_refusal_is_logged_and_counted_and_hurts_nobody(caplog: pytest.LogCaptureFixture) -> None:
    async def story(recorder: Recorder, board: Board) -> None:
        board.refusal = ForbiddenError("the namespace is being terminated", status=403)
        recorder.record(DEMO, reason="MemberAdded", note="demo-a")
        await asyncio.sleep(1)
        board.refusal = None
        recorder.record(OTHER, reason="MemberAdded", note="other-a")
        await asyncio.sleep(1)

    recorder, board = told(story)

    assert [event["regarding"]["name"] for event in board.events.values()] == ["other"]
    assert recorder.counts.failed == 1
    assert "The event MemberAdded of demo was not posted: the namespace is being terminated" in caplog.text


def test_an_answer_that_was_lost_does_not_post_twice() -> None:
    async def story(recorder: Recorder, board: Board) -> None:
        board.loses_answers = True
        recorder.record(DEMO, reason="MemberAdded", note="demo-a")
        await asyncio.sleep(0.5)
        board.loses_answers = False
        await asyncio.sleep(10)

    recorder, board = told(story)

    assert len(board.events) == 1
    assert recorder.counts.failed == 0


def test_a_repetition_while_the_event_is_being_posted_is_not_forgotten() -> None:
    async def story(recorder: Recorder, board: Board) -> None:
        board.takes = 1.0
        recorder.record(DEMO, reason="MemberUnhealthy", note="demo-a")
        await asyncio.sleep(0.5)
        recorder.record(DEMO, reason="MemberUnhealthy", note="demo-a")
        await asyncio.sleep(60)
        assert board.only["series"]["count"] == 2

    told(story)


def test_a_series_whose_event_has_expired_goes_on_in_a_new_one() -> None:
    async def story(recorder: Recorder, board: Board) -> None:
        recorder.record(DEMO, reason="MemberUnhealthy", note="demo-a")
        await asyncio.sleep(1)
        board.events.clear()
        recorder.record(DEMO, reason="MemberUnhealthy", note="demo-a")
        await asyncio.sleep(60)

    _, board = told(story)

    assert board.only["series"]["count"] == 2


def test_what_is_left_is_posted_at_the_end() -> None:
    async def story(recorder: Recorder, board: Board) -> None:
        recorder.record(DEMO, reason="MemberAdded", note="demo-a")
        recorder.record(OTHER, reason="MemberAdded", note="other-a")

    _, board = told(story)

    assert len(board.events) == 2


def test_the_end_does_not_wait_for_a_server_that_hangs(caplog: pytest.LogCaptureFixture) -> None:
    async def life() -> float:
        board = Board()
        board.hangs = True
        async with a_recorder(board) as recorder:
            for number in range(5):
                recorder.record(DEMO, reason="MemberAdded", note=f"demo-{number}")
            await asyncio.sleep(1)
            begun = now()
        assert recorder.counts.dropped == 5
        return now() - begun

    assert in_virtual_time(life()) <= LIMITS.deadline
    assert "5 events could not be posted before the end" in caplog.text


def test_what_lives_in_no_namespace_has_its_events_in_default() -> None:
    async def story(recorder: Recorder, board: Board) -> None:
        recorder.record(Reference("v1", "Node", "w1", uid="uid-3"), reason="Odd", note="odd")
        await asyncio.sleep(1)

    _, board = told(story)

    assert board.only["metadata"]["namespace"] == "default"
    assert "namespace" not in board.only["regarding"]
