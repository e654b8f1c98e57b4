"""What the probes of Kubernetes are told.

Ready is whoever will do its part as soon as its turn comes, so one that waits for the lease is ready too. The old
operator was ready only while it led, and under today's Deployments that is a deadlock: a rolling update of one replica
keeps the old pod until the new one is ready, while the new one waits for the lease of the old. The same goes for an
old operator in the same Deployment that still holds its lock. Who leads is in the metric `etcd_operator_leader`.

Alive is a process in which anything gets done. One loop that hangs must not take the others down with it, so the
process is given up only when no turn of any loop has ended for a long while although one is under way. An event loop
that is blocked need not be looked for: it answers no probe.
"""

from __future__ import annotations

import enum
import time
from collections.abc import Callable
from dataclasses import dataclass

STUCK_SECONDS = 600.0
"""Longer than any turn takes: its calls have deadlines of seconds, and it makes some dozens of them."""


class Phase(enum.Enum):
    """Where a process is in its life, and whether it is ready then."""

    STARTING = "starting", False
    STANDING_BY = "standing by", True
    PREPARING = "preparing", False
    LEADING = "leading", True
    ENDING = "ending", False

    def __init__(self, word: str, ready: bool) -> None:
        self.word = word
        self.ready = ready


@dataclass(frozen=True)
class Answer:
    good: bool
    text: str

    @property
    def status(self) -> int:
        return 200 if self.good else 503


class Health:
    """Told by whoever runs the process, asked by whoever serves it."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._phase = Phase.STARTING
        self._why = ""
        self._last_turn = clock()
        self._longest_turn: Callable[[], float] = lambda: 0.0

    @property
    def phase(self) -> Phase:
        return self._phase

    def enter(self, phase: Phase, why: str = "") -> None:
        self._phase, self._why = phase, why

    def follow(self, longest_turn: Callable[[], float]) -> None:
        """`longest_turn` tells for how long the oldest turn under way has been so, in seconds."""
        self._longest_turn = longest_turn
        self._last_turn = self._clock()

    def turned(self) -> None:
        """A turn of a loop has ended."""
        self._last_turn = self._clock()

    def ready(self) -> Answer:
        text = f"{self._phase.word}: {self._why}" if self._why else self._phase.word
        return Answer(self._phase.ready, text)

    def alive(self) -> Answer:
        return alive(longest_turn=self._longest_turn(), since_last=self._clock() - self._last_turn)


def alive(*, longest_turn: float, since_last: float) -> Answer:
    if min(longest_turn, since_last) < STUCK_SECONDS:
        return Answer(good=True, text="ok")
    return Answer(
        good=False,
        text=f"no loop has ended a turn for {since_last:.0f} s, and one has been in its turn for {longest_turn:.0f} s",
    )
