"""What a rung of the ladder decides, before the status is written around it."""

from __future__ import annotations

from dataclasses import dataclass

from etcd_operator.api.cluster import Operation
from etcd_operator.plan.steps import Step, Wait

SOON = 0.3  # seconds: something fast is under way that no event tells of
SHORTLY = 1.0
STALLED = 5.0
IDLE = 10.0


@dataclass(frozen=True, kw_only=True)
class Outcome:
    step: Step
    why: str
    operation: Operation | None
    reason: str = ""  # of the condition Ready, where the state of the cluster alone does not tell it
    failed_version: str = ""  # one that a member could not be started with
    stalled: bool = False  # waits for something that only a person or the outside can bring


def wait(
    why: str, *, operation: Operation | None, seconds: float | None = None, reason: str = "", stalled: bool = False
) -> Outcome:
    pause = seconds if seconds is not None else STALLED if stalled else SHORTLY
    return Outcome(step=Wait(pause), why=why, operation=operation, reason=reason, stalled=stalled)
