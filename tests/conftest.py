"""Tells `make test` about every test as it ends, for the times at the end of its report.

One line of JSON per test into the file that `CHECK_CASES` names; without it, pytest is as it always is.
"""

from __future__ import annotations

import json
import os
import signal
from collections import defaultdict
from pathlib import Path

import pytest

SEVERITY = ("passed", "skipped", "failed")


class CaseWriter:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._phases: dict[str, list[pytest.TestReport]] = defaultdict(list)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A test is its set-up, its body and its tear-down: the worst of them is its outcome."""
        phases = self._phases[report.nodeid]
        phases.append(report)
        if report.when == "teardown":
            outcome = max((phase.outcome for phase in phases), key=SEVERITY.index)
            self._write(report.nodeid, outcome, sum(phase.duration for phase in phases))
            del self._phases[report.nodeid]

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._write(report.nodeid, "failed", 0.0)

    def _write(self, name: str, outcome: str, seconds: float) -> None:
        with self._path.open("a") as handle:
            handle.write(json.dumps({"name": name, "outcome": outcome, "seconds": seconds}) + "\n")


def pytest_configure(config: pytest.Config) -> None:
    # A shell without job control starts what is in the background deaf to SIGINT, and children inherit that.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if path := os.environ.get("CHECK_CASES"):
        config.pluginmanager.register(CaseWriter(Path(path)))
