"""How `make test` starts its children, reads what they say, and ends them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from box.layout import REPOSITORY
from dev.job import Job, Tail


def sh(script: str) -> tuple[str, ...]:
    return ("sh", "-c", script)


def start(tmp_path: Path, *commands: tuple[str, ...]) -> Job:
    return Job(commands, log=tmp_path / "logs" / "job.log", variables={"PATH": os.environ["PATH"]})


def wait_for(condition: Callable[[], object], seconds: float = 10.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.01)


def finish(job: Job) -> int | None:
    wait_for(lambda: job.poll() is not None)
    return job.poll()


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_commands_run_one_after_another(tmp_path: Path) -> None:
    job = start(tmp_path, sh("echo one"), sh("echo two >&2"))

    assert finish(job) == 0
    assert job.last_lines(9) == ["$ sh -c echo one", "one", "$ sh -c echo two >&2", "two"]


def test_the_first_failure_ends_the_job_with_its_code(tmp_path: Path) -> None:
    job = start(tmp_path, sh("exit 3"), sh("echo never"))

    assert finish(job) == 3
    assert "never" not in job.last_lines(1)


def test_a_program_that_does_not_exist_is_a_failure_and_not_a_crash(tmp_path: Path) -> None:
    job = start(tmp_path, ("there-is-no-such-program",))

    assert finish(job) == 127
    assert job.last_lines(1) == ["there-is-no-such-program: No such file or directory"]


def test_stopping_ends_grandchildren_too(tmp_path: Path) -> None:
    job = start(tmp_path, sh(f"sleep 600 & echo $! > {tmp_path}/pid; wait"))
    wait_for(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text().strip())
    grandchild = int((tmp_path / "pid").read_text())
    assert alive(grandchild)

    job.stop()

    wait_for(lambda: not alive(grandchild))
    assert job.poll() not in {None, 0}


def test_a_daemon_that_keeps_the_output_open_holds_nothing_up(tmp_path: Path) -> None:
    job = start(tmp_path, sh(f"setsid sleep 600 & echo $! > {tmp_path}/pid"))

    assert finish(job) == 0
    os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)


def test_a_tail_gives_each_whole_line_once(tmp_path: Path) -> None:
    log = tmp_path / "log"
    tail = Tail(log)
    seen = [list(tail.lines())]
    for text in ("one\ntw", "o\n", ""):
        with log.open("a") as handle:
            handle.write(text)
        seen.append(list(tail.lines()))

    assert seen == [[], ["one"], ["two"], []]


PROGRAM = """
import sys
from pathlib import Path
from dev.check import check
from dev.environment import Environment
from dev.stages import Stage
stages = tuple(Stage(name, "", (("sh", "-c", script),)) for name, script in {stages!r})
sys.exit(check(stages, Environment(home=Path({home!r}), lock=Path("dev.txt"), lock_text="")))
"""


def check(tmp_path: Path, **stages: str) -> subprocess.Popen[str]:
    program = PROGRAM.format(stages=list(stages.items()), home=str(tmp_path))
    variables = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    return subprocess.Popen([sys.executable, "-c", program], env=variables, stdout=subprocess.PIPE, text=True)


@pytest.mark.parametrize(("second", "code"), [("true", 0), ("echo words; false", 1)])
def test_the_exit_code_tells_whether_all_is_well(tmp_path: Path, second: str, code: int) -> None:
    running = check(tmp_path, lint="true", types=second)
    output, _ = running.communicate(timeout=30)

    assert running.returncode == code
    assert output.splitlines()[-1] == ("2 passed, 0 failed" if code == 0 else "1 passed, 1 failed")
    assert ("words" in output.splitlines()) is bool(code)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_it_ends_its_children_first(tmp_path: Path, number: signal.Signals) -> None:
    running = check(tmp_path, lint=f"echo $$ > {tmp_path}/pid; exec sleep 600")
    wait_for(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text().strip())
    child = int((tmp_path / "pid").read_text())

    running.send_signal(number)
    running.communicate(timeout=30)

    assert running.returncode == 130
    assert not alive(child)
