"""How long to wait after the n-th failure in a row.

Exponential, because what has failed for minutes will hardly be well within the next second. Capped, because nothing
here ever gives up. Jittered, because all loops fail at the same instant when the API server goes away, and must not
all be back at the same instant.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

Uniform = Callable[[float, float], float]
"""A number between two others, such as `random.uniform`."""


class Backoff(msgspec.Struct, frozen=True):
    """A rising wait, in seconds: `first` after one failure, `factor` times longer after each more, at most `cap`."""

    first: float = 0.5
    cap: float = 60.0
    factor: float = 2.0
    spread: float = 0.5
    """The part of each wait that chance decides: 0.5 means between the half and the whole of it."""

    def __post_init__(self) -> None:
        if not (0 < self.first <= self.cap and self.factor >= 1 and 0 <= self.spread <= 1):
            raise ValueError(f"{self} is no back-off: 0 < first <= cap, factor >= 1 and 0 <= spread <= 1 are needed")

    def delay(self, failures: int, uniform: Uniform) -> float:
        """The wait after so many failures in a row; none if there was none."""
        if failures < 1:
            return 0.0
        longest = self.longest(failures)
        return uniform(longest * (1 - self.spread), longest)

    def longest(self, failures: int) -> float:
        """The wait before chance shortens it."""
        try:
            return min(self.cap, self.first * self.factor ** (failures - 1))
        except OverflowError:
            return self.cap
