"""How a process ends, in processes of their own, by real signals."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

LIMIT = 60.0

PROGRAM = """
import asyncio, logging, sys
from etcd_operator.cli import ending

logging.basicConfig(level="INFO", format="%(levelname)s %(message)s")

class Expected(Exception):
    pass

async def work():
{work}

sys.exit(ending.run(work, expected=(Expected,), seconds={seconds}))
"""


@contextmanager
def process(work: str, *, seconds: float = LIMIT) -> Iterator[subprocess.Popen[str]]:
    """One that has said a line, so that it can be sent signals."""
    program = PROGRAM.format(work=textwrap.indent(textwrap.dedent(work), "    "), seconds=seconds)
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as begun:
        try:
            assert begun.stdout is not None
            assert begun.stdout.readline() == "begun\n"
            yield begun
        finally:
            begun.kill()


STEP = """
print("begun", flush=True)
try:
    await asyncio.sleep(3600)
finally:
    await asyncio.sleep({step})
    print("step finished", flush=True)
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_lets_the_step_under_way_be_finished(number: signal.Signals) -> None:
    with process(STEP.format(step=0.2)) as begun:
        begun.send_signal(number)
        out, err = begun.communicate(timeout=LIMIT)

    assert begun.returncode == 0
    assert out == "step finished\n"
    assert f"{number.name}: the step under way is finished" in err


def test_a_step_that_takes_too_long_is_left() -> None:
    with process(STEP.format(step=3600), seconds=0.2) as begun:
        begun.send_signal(signal.SIGTERM)
        out, err = begun.communicate(timeout=LIMIT)

    assert begun.returncode == 1
    assert out == ""
    assert "Not everything was finished within 0.2 s" in err


def test_a_second_signal_ends_it_at_once() -> None:
    with process(STEP.format(step=3600)) as begun:
        begun.send_signal(signal.SIGTERM)
        assert begun.stderr is not None
        assert "SIGTERM" in begun.stderr.readline()
        begun.send_signal(signal.SIGINT)
        _, err = begun.communicate(timeout=LIMIT)

    assert begun.returncode == 128 + signal.SIGINT
    assert "SIGINT once more" in err


def test_an_expected_error_is_told_in_its_own_words() -> None:
    with process('print("begun", flush=True)\nraise Expected("the lease is lost")') as begun:
        _, err = begun.communicate(timeout=LIMIT)

    assert (begun.returncode, err) == (1, "ERROR the lease is lost\n")


def test_any_other_error_is_told_with_its_traceback() -> None:
    with process('print("begun", flush=True)\nraise KeyError("oops")') as begun:
        _, err = begun.communicate(timeout=LIMIT)

    assert begun.returncode == 1
    assert "Traceback" in err
    assert "KeyError: 'oops'" in err


def test_an_error_while_ending_is_no_good_order() -> None:
    work = """
    print("begun", flush=True)
    try:
        await asyncio.sleep(3600)
    finally:
        raise Expected("could not be finished")
    """
    with process(work) as begun:
        begun.send_signal(signal.SIGTERM)
        _, err = begun.communicate(timeout=LIMIT)

    assert begun.returncode == 1
    assert "could not be finished" in err
