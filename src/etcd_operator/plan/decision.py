"""What a decision is: the one next step, the chores before it, the whole status, and why."""

from __future__ import annotations

from dataclasses import dataclass

from etcd_operator.api.cluster import ClusterStatus
from etcd_operator.plan.steps import Chore, Step


@dataclass(frozen=True)
class Plan:
    step: Step
    status: ClusterStatus  # to be written before the step is taken: it holds the intent
    why: str
    chores: tuple[Chore, ...] = ()
    events: tuple[Announcement, ...] = ()  # what changed since the status before


@dataclass(frozen=True)
class Announcement:
    """A change of state that the user is told of as an event."""

    reason: str
    note: str
    warning: bool = False
