"""Whatever happens to calls and processes: never do two hold the lease, and in the end one does."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.kube.candidate import TIMES, Candidate
from tests.unit.kube.register import Register, Wire
from tests.unit.kube.virtual_time import in_virtual_time

COUNT = 3
PAUSES = st.sampled_from([0.0, 0.5, 3.0, 9.0, 12.0, 20.0])


@dataclass(frozen=True)
class Trouble:
    """What happens to one of the candidates, after a pause."""

    pause: float
    whose: int
    what: str
    seconds: float


troubles = st.builds(
    Trouble,
    pause=PAUSES,
    whose=st.integers(0, COUNT - 1),
    what=st.sampled_from(["slow there", "slow back", "cut there", "cut back", "heal", "stop"]),
    seconds=st.sampled_from([0.5, 4.0, 11.0, 30.0]),
)


class Field:
    """Candidates, and others in the place of those that have ended."""

    def __init__(self) -> None:
        self.register = Register()
        self.everybody: list[Candidate] = []
        self.present = [self._candidate() for _ in range(COUNT)]

    def _candidate(self) -> Candidate:
        candidate = Candidate(Wire(self.register), f"candidate-{len(self.everybody)}")
        self.everybody.append(candidate)
        return candidate

    async def befall(self, trouble: Trouble) -> None:
        wire = self.present[trouble.whose].wire
        match trouble.what:
            case "slow there":
                wire.there = trouble.seconds
            case "slow back":
                wire.back = trouble.seconds
            case "cut there":
                wire.cut_there = True
            case "cut back":
                wire.cut_back = True
            case "heal":
                self.heal(wire)
            case "stop":
                await self.present[trouble.whose].stop()

    def heal(self, wire: Wire) -> None:
        wire.there = wire.back = 0.0
        wire.cut_there = wire.cut_back = False

    def replace_the_ended(self) -> None:
        self.present = [self._candidate() if one.task.done() else one for one in self.present]

    async def watch(self) -> None:
        while True:
            holders = [candidate.identity for candidate in self.everybody if candidate.leads]
            assert len(holders) <= 1, f"{holders} hold the lease at once"
            self.replace_the_ended()
            await asyncio.sleep(0.25)


async def course(script: list[Trouble]) -> Field:
    field = Field()
    watching = asyncio.create_task(field.watch())
    for trouble in script:
        await asyncio.sleep(trouble.pause)
        await field.befall(trouble)
    for candidate in field.present:
        field.heal(candidate.wire)
    await asyncio.sleep(4 * TIMES.duration)
    assert any(candidate.leads for candidate in field.present), "nobody leads although all is well"
    watching.cancel()
    await asyncio.wait({watching})
    if not watching.cancelled():
        watching.result()
    for candidate in field.everybody:
        await candidate.stop()
    return field


@settings(max_examples=150, deadline=None)
@given(script=st.lists(troubles, max_size=12))
def test_never_do_two_hold_the_lease_or_work_at_once(script: list[Trouble]) -> None:
    field = in_virtual_time(course(script))

    spans = sorted((one.begun, one.ended) for one in field.everybody if one.begun is not None and one.ended is not None)
    for (_, ended), (begun, _) in pairwise(spans):
        assert ended <= begun
    holders = [writer for writer in field.register.writers if writer]
    changes = sum(before != after for before, after in pairwise(holders))
    assert field.register.spec["leaseTransitions"] == changes
