"""Runs the checks: `python3 -m dev.check` all of them, `python3 -m dev.check lint unit` those.

The Go tools take most of the time when nothing is built yet, and need no result of the cheap checks: so they are built
beside them. What a stage prints is kept in a file and shown when it fails; the box tests, which take minutes, show
each test as it ends.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from box.layout import REPOSITORY
from dev.environment import Environment, SetupError, default_environment, ensure
from dev.job import Job, Tail
from dev.report import FAILED, Case, Report, Result
from dev.stages import BUILD, CHECKS, SETUP, Stage, stage

POLL_SECONDS = 0.1
SHOWN_LINES = 60


def say(line: str) -> None:
    print(line, flush=True)


@dataclass
class Run:
    """One call of the program: what is under way, and what came out so far."""

    environment: Environment
    report: Report = field(default_factory=Report)
    jobs: list[Job] = field(default_factory=list)
    build: Job | None = None
    build_tail: Tail | None = None

    def start(self, which: Stage) -> Job:
        logs = self.environment.caches / "logs"
        cases = logs / f"{which.name}.cases"
        cases.unlink(missing_ok=True)
        variables = {**self.environment.variables(os.environ), "CHECK_CASES": str(cases)}
        job = Job(which.commands, log=logs / f"{which.name}.log", variables=variables)
        self.jobs.append(job)
        return job

    def start_build(self) -> None:
        self.build = self.start(BUILD)
        self.build_tail = Tail(self.build.log)

    def follow(self, which: Stage) -> bool:
        """Run a stage to its end; the build's news are shown meanwhile."""
        job = self.start(which)
        news = Tail(job.log.with_suffix(".cases"))
        output = Tail(job.log)
        cases: list[Case] = []
        while True:
            code = job.poll()
            fresh = [Case.from_line(line) for line in news.lines()]
            cases += fresh
            if which.needs_box:
                self._show_cases(which, fresh)
            if which is SETUP:
                self._show(which, output)
            self._show_build()
            if code is not None:
                break
            time.sleep(POLL_SECONDS)
        self._finish(Result(which.name, job.seconds, ok=code == 0, cases=tuple(cases)), job)
        return code == 0

    def finish_build(self) -> bool:
        if self.build is None:
            return False
        while (code := self.build.poll()) is None:
            self._show_build()
            time.sleep(POLL_SECONDS)
        self._show_build()
        self._finish(Result(BUILD.name, self.build.seconds, ok=code == 0), self.build)
        self.build = None
        return code == 0

    def _finish(self, result: Result, job: Job) -> None:
        self.report.results.append(result)
        if not result.ok:
            say(f"---- {result.stage}: the last lines of {job.log}")
            for line in job.last_lines(SHOWN_LINES):
                say(line)
            say("----")
        say(f"{result.stage:<8}  {result.verdict}, {result.seconds:.1f} s")

    def _show_build(self) -> None:
        if self.build_tail:
            self._show(BUILD, self.build_tail)

    def _show(self, which: Stage, output: Tail) -> None:
        for line in output.lines():
            if line.strip() and not line.startswith("$ "):
                say(f"{which.name:<8}| {line}")

    def _show_cases(self, which: Stage, cases: list[Case]) -> None:
        for case in cases:
            mark = " FAILED" if case.outcome == FAILED else ""
            say(f"{which.name:<8}| {case.seconds:6.1f} s  {Path(case.file).stem}: {case.title}{mark}")

    def stop(self) -> None:
        for job in self.jobs:
            if job.poll() is None:
                job.stop()


def run(stages: tuple[Stage, ...], current: Run) -> None:
    on_box = [which for which in stages if which.needs_box]
    prepared = bool(on_box) and current.follow(SETUP)
    if prepared:
        current.start_build()
    for which in stages:
        if not which.needs_box:
            current.follow(which)
    built = prepared and current.finish_build()
    for which in on_box:
        if built:
            current.follow(which)
        else:
            say(f"{which.name:<8}  not run: the box could not be made ready for it")
            current.report.results.append(Result(which.name, 0.0, ok=False))


@contextmanager
def ended_like_an_interrupt() -> Iterator[None]:
    """SIGTERM, as a CI system sends it, must end the children just as Ctrl-C does."""

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def parse() -> argparse.Namespace:
    names = [each.name for each in CHECKS]
    parser = argparse.ArgumentParser(prog="python3 -m dev.check", description="Run the checks, all without a name.")
    parser.add_argument("stage", nargs="*", metavar="STAGE", help=f"one of {', '.join(names)}")
    chosen = parser.parse_args()
    if unknown := set(chosen.stage) - set(names):
        parser.error(f"there is no stage {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    return chosen


def check(stages: tuple[Stage, ...], environment: Environment) -> int:
    """Run the stages and print the report; the exit code."""
    began = time.monotonic()
    current = Run(environment)
    with ended_like_an_interrupt():
        try:
            run(stages, current)
        except KeyboardInterrupt:
            say("interrupted: ending what was started")
            return 130
        finally:
            current.stop()
    for line in current.report.lines(seconds=time.monotonic() - began):
        say(line)
    return 0 if current.report.ok else 1


def main() -> None:
    chosen = parse()
    os.chdir(REPOSITORY)
    environment = default_environment()
    try:
        ensure(environment)
    except SetupError as failure:
        sys.exit(str(failure))
    except KeyboardInterrupt:
        sys.exit(130)
    sys.exit(check(tuple(stage(name) for name in chosen.stage) or CHECKS, environment))


if __name__ == "__main__":
    main()
