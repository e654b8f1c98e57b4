"""What a loop knows of its own last turns. Nothing is lost if it is: it only saves calls and words."""

from __future__ import annotations

from dataclasses import dataclass, field

from etcd_operator.kube.expectations import Expectations
from etcd_operator.plan.steps import Step

REPEATS = 3  # the same step so often in a row is taken for one without effect
REFUSALS = 20  # etcd itself refuses a change for 5 s after another
FIRST_REST = 0.5  # seconds
LONGEST_REST = 10.0


@dataclass
class Memory:
    uid: str = ""  # of the object, whose name may be another's some day
    expectations: Expectations = field(default_factory=Expectations)
    error: str = ""  # why the last turn did not do what it wanted
    written: str = ""  # the object's version after our own last write to it
    chores: dict[str, str] = field(default_factory=dict)  # errors that were told, by chore
    last: Step | str | None = None  # what was done, or the word for why it was not
    repeats: int = 0

    def taken(self, step: Step) -> float:
        """How long to rest after a step: not at all, unless it is the same again and again."""
        beyond = self._again(step) - REPEATS
        return 0.0 if beyond < 0 else _rising(beyond)

    def refused(self, reason: str) -> float:
        """The same after one that was not done: a moment, and longer if it does not help."""
        return _rising(max(0, self._again(reason) - REFUSALS))

    def waited(self) -> None:
        self.last, self.repeats = None, 0

    def _again(self, what: Step | str) -> int:
        self.repeats = self.repeats + 1 if what == self.last else 0
        self.last = what
        return self.repeats


def _rising(times: int) -> float:
    return min(LONGEST_REST, FIRST_REST * 2.0 ** min(times, 10))
