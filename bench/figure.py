"""A figure with a limit of its own, where a ratio would say nothing: writes lost, elections, megabytes.

What is judged is one number made of all that were measured, and `judged_by` says how: the largest of them where not one
may be larger, the median where the machine may have had a bad minute.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bench.comparison import Better, digits, promise, verdict


def largest(values: Sequence[float]) -> float:
    return max(values)


def median(values: Sequence[float]) -> float:
    return statistics.median(values)


def share_below(limit: float) -> Callable[[Sequence[float]], float]:
    """In percent."""

    def share(values: Sequence[float]) -> float:
        return 100 * sum(value < limit for value in values) / len(values)

    share.__name__ = f"percent below {limit:g}"
    return share


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One line of the report."""

    name: str
    unit: str
    values: tuple[float, ...]
    judged_by: Callable[[Sequence[float]], float] = median
    better: Better = Better.LOWER
    bound: float | None = None  # None: told for what it is, without a promise

    @property
    def judged(self) -> float:
        return self.judged_by(self.values)

    @property
    def kept(self) -> bool:
        return self.better.keeps(self.judged, self.bound)

    def line(self) -> str:
        low, high = digits(min(self.values)), digits(max(self.values))
        runs = f"{len(self.values)} measured, {low} to {high}" if len(self.values) > 1 else "measured once"
        how = self.judged_by.__name__.replace("_", " ")
        unit = f" {self.unit}" if self.unit else ""
        left = f"{digits(self.judged):>6}  {promise(self.better, self.bound):<13} {verdict(self):<6}"
        return f"{left}  {self.name}{unit}: {how}, {runs}"

    def figures(self) -> dict[str, object]:
        return {
            "name": self.name,
            "unit": self.unit,
            "judged": self.judged,
            "judged_by": self.judged_by.__name__,
            "bound": self.bound,
            "better": self.better.value,
            "kept": self.kept,
            "values": self.values,
        }
