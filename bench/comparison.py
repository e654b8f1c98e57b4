"""Ours against a baseline, measured in turns.

The machines are shared and their speed drifts by more than what is measured: a figure alone says nothing, a ratio of
two figures taken side by side does. Who begins changes from round to round, so that a warm cache helps both alike.
"""

from __future__ import annotations

import enum
import statistics
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

Trial = Callable[[], Awaitable[float]]


class Better(enum.Enum):
    HIGHER = "at least"
    LOWER = "at most"


@dataclass(frozen=True)
class Comparison:
    """One line of the report."""

    name: str
    unit: str
    baseline_name: str
    ours: tuple[float, ...]
    baseline: tuple[float, ...]
    better: Better
    bound: float | None = None  # None: told for what it is, without a promise

    @property
    def ratio(self) -> float:
        return statistics.median(self.ours) / statistics.median(self.baseline)

    @property
    def kept(self) -> bool:
        if self.bound is None:
            return True
        return self.ratio >= self.bound if self.better is Better.HIGHER else self.ratio <= self.bound

    def line(self) -> str:
        promise = "" if self.bound is None else f"{self.better.value} {self.bound:g}"
        verdict = "" if self.bound is None else ("ok" if self.kept else "MISSED")
        figures = f"{_spread(self.ours)} ÷ {_spread(self.baseline)} {self.unit}"
        runs = f"{len(self.ours)} run{'s' if len(self.ours) > 1 else ''} each"
        return f"{self.ratio:6.2f}  {promise:<13} {verdict:<6}  {self.name} ÷ {self.baseline_name}: {figures}, {runs}"


def _spread(values: tuple[float, ...]) -> str:
    middle, low, high = statistics.median(values), min(values), max(values)
    return f"{middle:.0f} ({low:.0f} to {high:.0f})"


async def in_turns(*, ours: Trial, baseline: Trial, rounds: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The figures of both, after one unmeasured round of each."""
    await ours()
    await baseline()
    mine: list[float] = []
    theirs: list[float] = []
    for each in range(rounds):
        turns = [(ours, mine), (baseline, theirs)]
        for trial, figures in turns if each % 2 == 0 else reversed(turns):
            figures.append(await trial())
    return tuple(mine), tuple(theirs)
