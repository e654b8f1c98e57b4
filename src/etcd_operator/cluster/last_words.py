"""What a process said last, out of the end of its log: one line that tells why it ended.

etcd from 3.4 on writes a JSON object per line, and of those the one that ends the process says why. A panic writes its
reason first and then many lines about where. Earlier versions write plain text, whose last line is the best guess.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

LONGEST = 300  # characters
FATAL = frozenset({"fatal", "panic"})


class _Line(msgspec.Struct, frozen=True):
    level: str = ""
    msg: str = ""
    error: str = ""


def last_words(log: str) -> str:
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    said = _last(_told(line) for line in lines) or _last(_panic(line) for line in lines) or (lines or [""])[-1]
    return shortened(said)


def shortened(text: str) -> str:
    """It becomes part of sentences that people read, and of a status that is kept many times over."""
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def _last(found: Iterable[str]) -> str:
    return next((text for text in reversed([*found]) if text), "")


def _told(line: str) -> str:
    try:
        entry = msgspec.json.decode(line, type=_Line)
    except msgspec.DecodeError:
        return ""
    if entry.level not in FATAL:
        return ""
    return f"{entry.msg}: {entry.error}" if entry.error else entry.msg


def _panic(line: str) -> str:
    return line if line.startswith("panic: ") else ""
