"""How many clusters are asked at the same time.

An operator that has just started looks at all its clusters at once. Each question has two seconds for its answer, and
with hundreds of clusters the processor needs longer than that for all of them together: everybody would seem silent,
and every status would tell of a lost majority. So clusters are asked in turns, and the two seconds begin with theirs.

A cluster with a silent member holds its place for as long as the silence takes. Such ones wait for each other only.
"""

from __future__ import annotations

import asyncio

AT_ONCE = 32


class Crowd:
    def __init__(self, at_once: int = AT_ONCE) -> None:
        self._answering = asyncio.Semaphore(at_once)
        self._silent = asyncio.Semaphore(at_once)

    def place(self, *, silent: bool) -> asyncio.Semaphore:
        """To be held while a cluster is asked; `silent` says whether somebody in it was when it was asked last."""
        return self._silent if silent else self._answering
