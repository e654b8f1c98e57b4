"""An event loop whose clock jumps to the next timer instead of waiting for it: hours pass in milliseconds."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class NothingWillHappenError(AssertionError):
    """All tasks wait, and no timer will ever wake one."""


class _Selector(selectors.SelectSelector):
    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if not ready:
            if timeout is None:
                raise NothingWillHappenError
            self.now += max(0.0, timeout)
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._virtual = _Selector()
        super().__init__(self._virtual)

    def time(self) -> float:
        return self._virtual.now


def in_virtual_time(story: Coroutine[Any, Any, T]) -> T:
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(story)


def now() -> float:
    return asyncio.get_running_loop().time()


def shortest(low: float, high: float) -> float:
    """Chance that always takes the smaller number."""
    return low


def longest(low: float, high: float) -> float:
    return high
