"""Numbers and lists as people write them: every message of the plan is a sentence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from etcd_operator.plan.view import Listed


def names(members: Iterable[Listed]) -> str:
    return sentence_list([member.name for member in members])


def sentence_list(words: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"


def count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def answer(number: int) -> str:
    return "answers" if number == 1 else "answer"


def answering(number: int, total: int, noun: str) -> str:
    """`1 of 3 members answers`, `0 of 1 member answers`."""
    return f"{number} of {count(total, noun)} {answer(1 if total == 1 else number)}"


def needed(number: int) -> str:
    return f"{number} is needed" if number == 1 else f"{number} are needed"


def ended(text: str) -> str:
    """With a full stop: what Kubernetes and etcd say has one or not."""
    return text if not text or text.endswith((".", "!", "?")) else f"{text}."
