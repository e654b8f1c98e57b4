"""How the guard waits: for calls that may hang, and between tries.

The resolver of the C library takes neither a deadline nor a signal, so whatever asks the network runs in a thread that
nobody has to wait for. The main thread only ever sleeps, and SIGTERM ends it at once.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from queue import Empty, SimpleQueue
from typing import Generic, TypeVar

T = TypeVar("T")

SHORTEST = 0.05  # seconds
LONGEST = 1.0
SHARE = 0.07  # of the time waited so far: so much is lost at most, and three seconds take 35 tries


def pause_after(waited: float) -> float:
    """Often at first, since what a member waits for mostly comes within seconds; once a second in the end."""
    return min(LONGEST, max(SHORTEST, SHARE * waited))


class Questions(Generic[T]):
    """Asks several at once; one that has not answered is not asked again until it has."""

    def __init__(self, questions: Mapping[str, Callable[[], T]]) -> None:
        self._questions = questions
        self._pending: set[str] = set()
        self._answers: SimpleQueue[tuple[str, T]] = SimpleQueue()

    def ask(self, *, within: float) -> dict[str, T]:
        """What came in time, by the name of the question; sooner if all did."""
        until = time.monotonic() + within
        for name in self._questions.keys() - self._pending:
            self._pending.add(name)
            threading.Thread(target=self._answer, args=(name,), daemon=True).start()
        found: dict[str, T] = {}
        while self._pending:
            try:
                name, answer = self._answers.get(timeout=max(0.0, until - time.monotonic()))
            except Empty:
                break
            self._pending.remove(name)
            found[name] = answer
        return found

    def _answer(self, name: str) -> None:
        self._answers.put((name, self._questions[name]()))


class Journal:
    """One line when the state changes, not one for each try."""

    def __init__(self) -> None:
        self._last = ""

    def say(self, sentence: str) -> None:
        if sentence != self._last:
            print(sentence, flush=True)
            self._last = sentence
