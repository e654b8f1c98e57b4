"""Ours against a baseline, measured in turns.

The machines are shared and their speed drifts by more than what is measured: a figure alone says nothing, a ratio of
two figures taken side by side does. Who begins changes from round to round, so that a warm cache helps both alike.
"""

from __future__ import annotations

import enum
import statistics
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

Trial = Callable[[], Awaitable[float]]


class Better(enum.Enum):
    HIGHER = "at least"
    LOWER = "at most"

    def keeps(self, value: float, bound: float | None) -> bool:
        if bound is None:
            return True
        return value >= bound if self is Better.HIGHER else value <= bound


class Result(Protocol):
    """One line of the report, and all that was measured for it."""

    @property
    def name(self) -> str: ...

    @property
    def bound(self) -> float | None: ...

    @property
    def kept(self) -> bool: ...

    def line(self) -> str: ...

    def figures(self) -> dict[str, object]: ...


@dataclass(frozen=True)
class Comparison:
    """A ratio of two medians."""

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
        return self.better.keeps(self.ratio, self.bound)

    def line(self) -> str:
        figures = f"{_spread(self.ours)} ÷ {_spread(self.baseline)} {self.unit}"
        runs = f"{len(self.ours)} run{'s' if len(self.ours) > 1 else ''} each"
        left = f"{self.ratio:6.2f}  {promise(self.better, self.bound):<13} {verdict(self):<6}"
        return f"{left}  {self.name} ÷ {self.baseline_name}: {figures}, {runs}"

    def figures(self) -> dict[str, object]:
        return {
            "name": self.name,
            "baseline": self.baseline_name,
            "unit": self.unit,
            "ratio": self.ratio,
            "bound": self.bound,
            "better": self.better.value,
            "kept": self.kept,
            "ours": self.ours,
            "baseline_figures": self.baseline,
            "median_ours": statistics.median(self.ours),
            "median_baseline": statistics.median(self.baseline),
        }


def promise(better: Better, bound: float | None) -> str:
    return "" if bound is None else f"{better.value} {bound:g}"


def verdict(result: Result) -> str:
    if result.bound is None:
        return ""
    return "ok" if result.kept else "MISSED"


def digits(value: float) -> str:
    """As many as are worth reading."""
    if value >= 100 or value == round(value):
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def _spread(values: tuple[float, ...]) -> str:
    return f"{digits(statistics.median(values))} ({digits(min(values))} to {digits(max(values))})"


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
