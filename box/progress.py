"""Saying how far a long step is.

On a terminal one line is rewritten in place; in a log, where that would be noise, a line appears every 15 seconds.
"""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import TextIO

Say = Callable[[str], None]

SCREEN_PERIOD = 0.2
LOG_PERIOD = 15.0
ERASE_LINE = "\r\x1b[K"


def clock(seconds: float) -> str:
    """`3:12`, or `1:03:12` when it took that long."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def size(count: float) -> str:
    """`139 MB`: what a person compares, in decimal units as disks are sold."""
    for unit in ("bytes", "kB", "MB"):
        if count < 1000:
            return f"{count:.0f} {unit}"
        count /= 1000
    return f"{count:.1f} GB"


class Ticker:
    """The line of one long step; leaving the `with` block takes it off the terminal."""

    def __init__(self, say: Say, *, stream: TextIO | None = None, period: float = LOG_PERIOD) -> None:
        self._say = say
        self._stream = stream or sys.stderr
        self._terminal = self._stream.isatty()
        self._period = SCREEN_PERIOD if self._terminal else period
        self._last = time.monotonic()

    def show(self, line: str) -> None:
        if time.monotonic() - self._last < self._period:
            return
        self._last = time.monotonic()
        if self._terminal:
            width = shutil.get_terminal_size().columns
            self._stream.write(ERASE_LINE + line[: width - 1])
            self._stream.flush()
        else:
            self._say(line)

    def clear(self) -> None:
        """Makes room for a message of another kind."""
        if self._terminal:
            self._stream.write(ERASE_LINE)
            self._stream.flush()

    def __enter__(self) -> Ticker:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.clear()
