"""What came out of the checks: a time for every stage and every test file, and the names of what failed."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Self

PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"


@dataclass(frozen=True)
class Case:
    """One test that ran, as `tests/conftest.py` writes it down."""

    name: str  # as pytest takes it on its command line
    outcome: str
    seconds: float

    @classmethod
    def from_line(cls, line: str) -> Self:
        return cls(**json.loads(line))

    @property
    def file(self) -> str:
        return self.name.partition("::")[0]

    @property
    def title(self) -> str:
        """`test_a_pod_reaches_another[by address]` as a sentence."""
        return self.name.rpartition("::")[2].removeprefix("test_").replace("_", " ")


@dataclass(frozen=True)
class Result:
    """How a stage ended. A stage without tests counts as one check."""

    stage: str
    seconds: float
    ok: bool
    cases: tuple[Case, ...] = ()

    def count(self, outcome: str) -> int:
        return sum(case.outcome == outcome for case in self.cases)

    @property
    def failures(self) -> tuple[str, ...]:
        names = tuple(case.name for case in self.cases if case.outcome == FAILED)
        return names or (() if self.ok else (self.stage,))

    @property
    def passes(self) -> int:
        return self.count(PASSED) if self.cases else int(self.ok)

    @property
    def verdict(self) -> str:
        if not self.cases:
            return "ok" if self.ok else FAILED.upper()
        counts = ((self.count(outcome), outcome) for outcome in (PASSED, FAILED, SKIPPED))
        return ", ".join(f"{number} {outcome}" for number, outcome in counts if number)


@dataclass
class Report:
    results: list[Result] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        return bool(self.results) and all(result.ok for result in self.results)

    def lines(self, *, seconds: float) -> Iterable[str]:
        """The table, then what failed, then the counts alone on the last line."""
        yield ""
        for result in self.results:
            yield f"{result.seconds:8.1f} s  {result.stage:<44}  {result.verdict}"
            for file in _files(result.cases):
                yield f"{file.seconds:8.1f} s    {file.stage:<42}  {file.verdict}"
        yield f"{seconds:8.1f} s  in all"
        yield ""
        failures = [name for result in self.results for name in result.failures]
        yield from (f"FAILED {name}" for name in failures)
        skipped = sum(result.count(SKIPPED) for result in self.results)
        passed = sum(result.passes for result in self.results)
        yield f"{passed} passed, {len(failures)} failed" + (f", {skipped} skipped" if skipped else "")


def _files(cases: tuple[Case, ...]) -> Iterable[Result]:
    for name in dict.fromkeys(case.file for case in cases):
        own = tuple(case for case in cases if case.file == name)
        failed = any(case.outcome == FAILED for case in own)
        yield Result(name, sum(case.seconds for case in own), ok=not failed, cases=own)
