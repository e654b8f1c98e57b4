"""Why something is not done: one word for programs, a sentence for people."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Refusal:
    reason: str
    sentence: str
