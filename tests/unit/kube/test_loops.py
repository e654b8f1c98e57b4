from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import Awaitable, Callable

import pytest

from etcd_operator.kube.backoff import Backoff
from etcd_operator.kube.loops import GONE, Failure, Loops, Rest
from tests.unit.kube.virtual_time import in_virtual_time, longest, now

Story = Callable[[Loops[str]], Awaitable[None]]

STEADY = Backoff(first=8.0, cap=64.0)  # whole waits, as chance takes nothing with `longest`


class Diary:
    """A body that notes when it was run, takes its time, and then does what it is told to."""

    def __init__(self, *outcomes: Rest | Exception, takes: float = 0.0) -> None:
        self._outcomes = list(outcomes)
        self._takes = takes
        self.times: list[float] = []
        self.keys: list[str] = []
        self.inside: set[str] = set()

    async def __call__(self, key: str) -> Rest:
        assert key not in self.inside, f"two bodies of {key} at once"
        self.inside.add(key)
        self.keys.append(key)
        self.times.append(now())
        outcome = self._outcomes.pop(0) if self._outcomes else None
        try:
            await asyncio.sleep(self._takes)
        finally:
            self.inside.discard(key)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


def lived(diary: Diary, story: Story, *, failures: list[Failure[str]] | None = None) -> Diary:
    async def life() -> None:
        report = (failures if failures is not None else []).append
        async with Loops(diary, backoff=STEADY, report=report, uniform=longest) as loops:
            await story(loops)

    in_virtual_time(life())
    return diary


async def wait_until(time: float) -> None:
    await asyncio.sleep(time - now())


def test_a_wake_runs_the_body_once() -> None:
    async def story(loops: Loops[str]) -> None:
        loops.wake("a")
        await wait_until(1000)

    assert lived(Diary(), story).times == [0]


def test_any_number_of_wakes_during_a_run_means_one_more_run() -> None:
    async def story(loops: Loops[str]) -> None:
        for moment in range(50):
            await wait_until(moment / 100)
            loops.wake("a")
        await wait_until(1000)

    assert lived(Diary(takes=1.0), story).times == [0, 1]


def test_a_body_says_after_how_long_it_wants_to_run_again() -> None:
    async def story(loops: Loops[str]) -> None:
        loops.wake("a")
        await wait_until(100)

    assert lived(Diary(10.0, 30.0), story).times == [0, 10, 40]


def test_a_wake_does_not_wait_for_the_timer() -> None:
    async def story(loops: Loops[str]) -> None:
        loops.wake("a")
        await wait_until(3)
        loops.wake("a")
        await wait_until(100)

    assert lived(Diary(10.0), story).times == [0, 3]


def test_a_slow_loop_delays_no_other() -> None:
    async def story(loops: Loops[str]) -> None:
        for key in "abc":
            loops.wake(key)
        await wait_until(1000)

    diary = lived(Diary(takes=100.0), story)

    assert diary.keys == ["a", "b", "c"]
    assert diary.times == [0, 0, 0]


def test_failures_in_a_row_wait_longer_and_longer_and_a_success_forgets_them() -> None:
    async def story(loops: Loops[str]) -> None:
        loops.wake("a")
        await wait_until(1000)

    problem = ValueError("no")
    diary = lived(Diary(problem, problem, problem, 100.0, problem), story)

    assert diary.times == [0, 8, 8 + 16, 8 + 16 + 32, 156, 156 + 8]


def test_a_failure_is_reported_with_what_comes_next_and_touches_no_other_loop() -> None:
    failures: list[Failure[str]] = []

    async def story(loops: Loops[str]) -> None:
        loops.wake("bad")
        loops.wake("good")
        await wait_until(5)
        loops.wake("good")
        await wait_until(6)

    diary = lived(Diary(ValueError("no")), story, failures=failures)

    assert diary.keys == ["bad", "good", "good"]
    assert [(failure.key, str(failure.error), failure.failures, failure.delay) for failure in failures] == [
        ("bad", "no", 1, 8.0)
    ]


def test_a_wake_shortens_a_back_off_to_a_quarter_and_no_further() -> None:
    async def story(loops: Loops[str]) -> None:
        loops.wake("early")
        await wait_until(0.5)
        loops.wake("early")
        await wait_until(3)
        loops.wake("late")
        await wait_until(3 + 5)
        loops.wake("late")
        await wait_until(1000)

    diary = lived(Diary(ValueError("early"), 999.0, ValueError("late")), story)

    assert list(zip(diary.keys, diary.times, strict=True)) == [("early", 0), ("early", 2), ("late", 3), ("late", 8)]


def test_a_loop_that_wakes_itself_while_it_fails_does_not_spin() -> None:
    async def story(loops: Loops[str]) -> None:
        loops.wake("a")
        while now() < 1000:
            await asyncio.sleep(0.1)
            loops.wake("a")

    diary = lived(Diary(*[ValueError("no")] * 1000), story)

    assert len(diary.times) < 1000 / (STEADY.cap / 4) + 10


def test_a_wake_afresh_ends_a_back_off_at_once_and_forgets_the_failures() -> None:
    async def story(loops: Loops[str]) -> None:
        loops.wake("a")
        await wait_until(30)
        loops.wake("a", afresh=True)
        await wait_until(30 + 8.1)

    problem = ValueError("no")
    diary = lived(Diary(problem, problem, problem, problem), story)

    assert diary.times == [0, 8, 24, 30, 38], "after 30 comes the shortest wait again"


def test_the_task_of_an_object_ends_when_its_body_has_seen_that_it_is_gone() -> None:
    kept: list[int] = []

    async def story(loops: Loops[str]) -> None:
        loops.wake("a")
        loops.wake("b")
        await wait_until(1)
        kept.append(len(loops))
        assert "a" not in loops

    lived(Diary(GONE, None), story)

    assert kept == [1]


def test_nothing_of_an_object_that_is_gone_is_kept() -> None:
    class Named(str):
        """Plain strings know no weak references."""

        __slots__ = ("__weakref__",)

    async def body(key: str) -> Rest:
        return GONE

    async def story() -> None:
        async with Loops(body) as loops:
            key = Named("a")
            trace = weakref.ref(key)
            loops.wake(key)
            del key
            await asyncio.sleep(1)
            gc.collect()
            assert trace() is None

    in_virtual_time(story())


def test_an_object_that_comes_back_while_its_end_is_handled_gets_another_run() -> None:
    async def story(loops: Loops[str]) -> None:
        loops.wake("a")
        await wait_until(0.5)
        loops.wake("a")
        await wait_until(10)
        assert "a" in loops

    assert lived(Diary(GONE, None, takes=1.0), story).times == [0, 1]


def test_the_end_waits_for_every_body() -> None:
    ended: list[str] = []

    async def body(key: str) -> Rest:
        try:
            await asyncio.sleep(1000)
        finally:
            await asyncio.sleep(5)
            ended.append(key)
        return None

    async def story() -> None:
        async with Loops(body) as loops:
            loops.wake("a")
            loops.wake("b")
            await asyncio.sleep(1)
        assert ended == ["a", "b"]
        assert now() == 6
        loops.wake("c")
        assert len(loops) == 0

    in_virtual_time(story())


@pytest.mark.parametrize("outcome", [ValueError("the cleaning up failed"), None], ids=["fails", "returns"])
def test_a_body_that_makes_something_else_of_its_cancellation_ends_all_the_same(outcome: Exception | None) -> None:
    begun: list[float] = []

    async def body(key: str) -> Rest:
        begun.append(now())
        try:
            await asyncio.sleep(1000)
        except asyncio.CancelledError:
            if outcome is not None:
                raise outcome from None
        return 10.0

    async def story() -> None:
        async with Loops(body, report=lambda failure: None) as loops:
            loops.wake("a")
            await asyncio.sleep(1)
        assert now() == 1

    in_virtual_time(story())

    assert begun == [0]


def test_a_cancelled_part_of_a_body_is_a_failure_and_not_the_end_of_its_loop() -> None:
    times: list[float] = []

    async def body(key: str) -> Rest:
        times.append(now())
        part = asyncio.create_task(asyncio.sleep(1000))
        asyncio.get_running_loop().call_later(1, part.cancel)
        await part
        return None

    async def story() -> None:
        async with Loops(body, backoff=STEADY, report=lambda failure: None, uniform=longest) as loops:
            loops.wake("a")
            await wait_until(20)

    in_virtual_time(story())

    assert times == [0, 9]


def test_a_report_that_fails_stops_no_loop(caplog: pytest.LogCaptureFixture) -> None:
    def report(failure: Failure[str]) -> None:
        raise OSError("the disk is full")

    diary = Diary(ValueError("no"), None)

    async def story() -> None:
        async with Loops(diary, backoff=STEADY, report=report, uniform=longest) as loops:
            loops.wake("a")
            await wait_until(20)

    in_virtual_time(story())

    assert diary.times == [0, 8]
    assert "could not be reported" in caplog.text


def test_what_is_not_reported_elsewhere_is_logged_with_its_cause(caplog: pytest.LogCaptureFixture) -> None:
    async def story() -> None:
        async with Loops(Diary(ValueError("the cause"))) as loops:
            loops.wake("ns/a")
            await wait_until(1)

    in_virtual_time(story())

    assert "The loop of ns/a failed, for the 1. time in a row" in caplog.text
    assert "ValueError: the cause" in caplog.text


def test_turns_failures_and_times_are_counted() -> None:
    async def story(loops: Loops[str]) -> None:
        loops.wake("a")
        await wait_until(1)
        loops.wake("a")
        await wait_until(1.5)
        assert loops.tally.running == 1
        await wait_until(100)
        tally = loops.tally
        assert (tally.turns, tally.failures, tally.running) == (3, 1, 0)
        assert tally.busy == 6
        assert tally.waited == 1, "the second wake for the end of the first run; the third run had no wake"

    lived(Diary(None, ValueError("no"), None, takes=2.0), story)
