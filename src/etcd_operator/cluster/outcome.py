"""What can become of a step, beside being done.

The difference is whether it may have happened all the same. Either way the next thing is a look: nothing is ever done a
second time without one.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from etcd_operator.etcd.errors import EtcdError, NoAnswerError, WrongMemberError


class NotDoneError(Exception):
    """Certainly not done: somebody said no, or it was not even asked for. `reason` is one word."""

    def __init__(self, reason: str, text: str) -> None:
        super().__init__(text)
        self.reason = reason


class UnknownError(Exception):
    """Perhaps done, perhaps later, perhaps never."""

    def __init__(self, reason: str, text: str) -> None:
        super().__init__(text)
        self.reason = reason


@contextmanager
def told_by_etcd() -> Iterator[None]:
    """Sorts what a call to a member can end with."""
    try:
        yield
    except EtcdError as error:
        reason = "".join(word.capitalize() for word in error.reason.value.split())
        unknown = isinstance(error, NoAnswerError) or (isinstance(error, WrongMemberError) and error.done)
        raise (UnknownError if unknown else NotDoneError)(reason, str(error)) from error
