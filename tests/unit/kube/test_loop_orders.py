"""Whatever the order of wakes, runs, failures and ends: no wake is lost, and no key runs twice at once."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from etcd_operator.kube.backoff import Backoff
from etcd_operator.kube.loops import GONE, Loops, Rest
from tests.unit.kube.virtual_time import in_virtual_time, longest, now

KEYS = "abc"
BACKOFF = Backoff(first=1.0, cap=4.0)


@dataclass(frozen=True)
class Wake:
    pause: float
    key: str
    afresh: bool


@dataclass(frozen=True)
class Run:
    takes: float
    outcome: Rest | BaseException


@dataclass
class Course:
    """What happened, by key."""

    runs: list[Run]
    wakes: dict[str, list[float]] = field(default_factory=lambda: {key: [] for key in KEYS})
    begun: dict[str, list[float]] = field(default_factory=lambda: {key: [] for key in KEYS})
    ended: dict[str, list[float]] = field(default_factory=lambda: {key: [] for key in KEYS})

    async def body(self, key: str) -> Rest:
        run = self.runs.pop() if self.runs else Run(0.0, GONE)
        self.begun[key].append(now())
        await asyncio.sleep(run.takes)
        self.ended[key].append(now())
        if isinstance(run.outcome, BaseException):
            raise run.outcome
        return run.outcome


moments = st.sampled_from([0.0, 0.25, 0.5, 1.0, 3.0])
wakes = st.builds(Wake, pause=moments, key=st.sampled_from(KEYS), afresh=st.booleans())
outcomes = st.sampled_from([None, GONE, 0.0, 1.0, ValueError("no"), asyncio.CancelledError()])
runs = st.builds(Run, takes=moments, outcome=outcomes)


async def course(script: list[Wake], runs: list[Run]) -> Course:
    happened = Course(list(runs))
    async with Loops(happened.body, backoff=BACKOFF, report=lambda failure: None, uniform=longest) as loops:
        for wake in script:
            await asyncio.sleep(wake.pause)
            happened.wakes[wake.key].append(now())
            loops.wake(wake.key, afresh=wake.afresh)
        await asyncio.sleep(1000)
        happened.runs.clear()
        for key in KEYS:
            happened.wakes[key].append(now())
            loops.wake(key)
        await asyncio.sleep(1000)
        assert len(loops) == 0, "each body has said at last that its object is gone"
        assert loops.tally.running == 0
    return happened


@settings(max_examples=300, deadline=None)
@given(script=st.lists(wakes, max_size=30), runs=st.lists(runs, max_size=30))
def test_every_wake_is_answered_by_a_run_that_begins_after_it(script: list[Wake], runs: list[Run]) -> None:
    happened = in_virtual_time(course(script, runs))

    for key in KEYS:
        for woken in happened.wakes[key]:
            assert any(begun >= woken for begun in happened.begun[key])
        for ended, begun in zip(happened.ended[key], happened.begun[key][1:], strict=False):
            assert begun >= ended


@settings(max_examples=300, deadline=None)
@given(script=st.lists(wakes, max_size=30), runs=st.lists(runs, max_size=30))
def test_no_run_happens_without_a_reason(script: list[Wake], runs: list[Run]) -> None:
    happened = in_virtual_time(course(script, runs))

    timers_and_failures = sum(run.outcome is not None and run.outcome is not GONE for run in runs)
    total = sum(len(begun) for begun in happened.begun.values())
    assert total <= sum(len(woken) for woken in happened.wakes.values()) + timers_and_failures
