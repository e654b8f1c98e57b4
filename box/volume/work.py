"""A queue of names to look at: each at most once at a time, and later and later while it fails."""

from __future__ import annotations

import heapq
import random
import threading
import time

FIRST_PAUSE = 0.5
LONGEST_PAUSE = 15.0


class Work:
    """Shared by the threads that find work and those that do it."""

    def __init__(self) -> None:
        self._wake = threading.Condition()
        self._due: list[tuple[float, str]] = []
        self._wanted: dict[str, float] = {}  # when each name is due; the heap may hold older entries
        self._busy: set[str] = set()
        self._failures: dict[str, int] = {}

    def add(self, name: str, *, after: float = 0.0) -> None:
        """Have a name looked at, at the latest `after` seconds from now."""
        with self._wake:
            due = time.monotonic() + after
            if self._wanted.get(name, float("inf")) > due:
                self._wanted[name] = due
                heapq.heappush(self._due, (due, name))
                self._wake.notify()

    def take(self) -> str:
        """Wait for a name that is due and that nobody else is busy with."""
        with self._wake:
            while True:
                now = time.monotonic()
                while self._due and self._due[0][0] <= now:
                    due, name = heapq.heappop(self._due)
                    if self._wanted.get(name) == due and name not in self._busy:
                        del self._wanted[name]
                        self._busy.add(name)
                        return name
                self._wake.wait(self._due[0][0] - now if self._due else None)

    def done(self, name: str, *, failed: bool = False) -> None:
        """Give a name back; one that failed comes again by itself."""
        with self._wake:
            self._busy.discard(name)
            if failed:
                self._failures[name] = self._failures.get(name, 0) + 1
            else:
                self._failures.pop(name, None)
            if name in self._wanted:  # asked for meanwhile, perhaps dropped from the heap as it was busy
                heapq.heappush(self._due, (self._wanted[name], name))
                self._wake.notify()
        if failed:
            self.add(name, after=pause(self._failures[name]) * random.uniform(0.8, 1.2))


def pause(failures: int) -> float:
    return float(min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** min(failures - 1, 10)))
