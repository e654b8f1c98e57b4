"""Chores, all of a turn: most at once, and none holds a step up, as it is done again on the next turn.

With two exceptions. No member starts without its services. And no client is sent to a member before its pod says who it
is: from the first write on, an emptied disk must not be taken for a new one.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Sequence

from etcd_operator.cluster.act import Hands
from etcd_operator.cluster.memory import Memory
from etcd_operator.cluster.outcome import NotDoneError
from etcd_operator.kube.errors import ConflictError, KubeError
from etcd_operator.kube.store import Key
from etcd_operator.plan.decision import Plan
from etcd_operator.plan.steps import Chore, EnsureSurroundings, OpenGate, RecordIdentity, StartMembers

log = logging.getLogger(__name__)


async def keep_house(decided: Plan, hands: Hands, *, memory: Memory, key: Key) -> str:
    """What could not be done, as a sentence; empty if all was."""
    first = [chore for chore in decided.chores if isinstance(chore, RecordIdentity)]
    unmarked = await _together(first, hands, memory=memory, key=key)
    nameless = {chore.member for chore in first if chore in unmarked}
    rest = [chore for chore in decided.chores if chore not in first and not lets_in(chore, nameless)]
    undone = {**unmarked, **await _together(rest, hands, memory=memory, key=key)}
    for chore, error in undone.items():
        if isinstance(chore, EnsureSurroundings) and isinstance(decided.step, StartMembers):
            raise error
    return next((sentence(chore, error) for chore, error in undone.items() if _matters(error)), "")


def lets_in(chore: Chore, members: Collection[str]) -> bool:
    """Whether it sends clients to one of these."""
    return isinstance(chore, OpenGate) and chore.open and chore.member in members


def sentence(chore: Chore, error: BaseException) -> str:
    return f"{chore.name} was not done: {error}"


def _matters(error: BaseException) -> bool:
    """Somebody else was faster; the next turn sees what there is to do then."""
    return not isinstance(error, ConflictError)


async def _together(chores: Sequence[Chore], hands: Hands, *, memory: Memory, key: Key) -> dict[Chore, BaseException]:
    """Those that were not done, and why. Each is told once, and again when it fails for another reason."""
    results = await asyncio.gather(*(hands.tidy(chore) for chore in chores), return_exceptions=True)
    undone: dict[Chore, BaseException] = {}
    for chore, result in zip(chores, results, strict=True):
        text = str(result) if result else ""
        if text and memory.chores.get(chore.name) != text:
            log.warning("%s of %s was not done: %s", chore.name, key, text)
        memory.chores[chore.name] = text
        if isinstance(result, (NotDoneError, KubeError)):
            undone[chore] = result
        elif isinstance(result, BaseException):
            raise result
    return undone
