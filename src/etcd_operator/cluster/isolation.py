"""Whether it is rather the operator that is cut off than its members that are gone.

Where many members of many clusters are silent at the same time, the likeliest cause is on our side. One cluster alone
tells nothing: it may well be the only one that is in trouble.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from etcd_operator.kube.store import Key

WINDOW = 30.0  # seconds
LARGEST_PART = 1 / 3


@dataclass(frozen=True)
class _Round:
    at: float
    asked: int
    silent: int


class Silences:
    """How many members of each cluster were asked last, and how many did not answer."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._rounds: dict[Key, _Round] = {}

    def note(self, key: Key, *, asked: int, silent: int) -> None:
        self._rounds[key] = _Round(self._clock(), asked, silent)

    def any_in(self, key: Key) -> bool:
        """Whether somebody was silent when the cluster was asked last."""
        last = self._rounds.get(key)
        return last is not None and last.silent > 0

    def forget(self, key: Key) -> None:
        self._rounds.pop(key, None)

    @property
    def alone(self) -> bool:
        now = self._clock()
        recent = [each for each in self._rounds.values() if now - each.at <= WINDOW]
        troubled = sum(1 for each in recent if each.silent)
        asked, silent = sum(each.asked for each in recent), sum(each.silent for each in recent)
        return troubled > 1 and silent > asked * LARGEST_PART
