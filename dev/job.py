"""A child process whose output goes to a file and is read from there.

Not through a pipe: the tests start boxes that outlive them, and a pipe that such a process has inherited never ends.
The file also stays for a person to read.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

# A test session that is interrupted takes its box down first; what has not ended by then is killed.
PATIENCE = ((signal.SIGINT, 20.0), (signal.SIGTERM, 5.0), (signal.SIGKILL, 5.0))

ENDING = {signal.SIGINT, signal.SIGTERM}


class Job:
    """Commands that run one after another until one fails."""

    def __init__(self, commands: tuple[tuple[str, ...], ...], *, log: Path, variables: Mapping[str, str]) -> None:
        log.parent.mkdir(parents=True, exist_ok=True)
        self.log = log
        self.began = time.monotonic()
        self._left = list(commands)
        self._variables = dict(variables)
        self._output: BinaryIO = log.open("wb")
        self._process: subprocess.Popen[bytes] | None = None
        self._code: int | None = None
        self._ended = 0.0
        self._next()

    def _next(self) -> None:
        command = self._left.pop(0)
        self._output.write(f"$ {' '.join(command)}\n".encode())
        self._output.flush()
        # A Ctrl-C in the middle of this would leave a process that nobody knows of.
        signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=self._output,
                stderr=subprocess.STDOUT,
                env=self._variables,
                start_new_session=True,
                preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING),  # noqa: PLW1509 - one thread
            )
        except OSError as failure:
            self._output.write(f"{command[0]}: {failure.strerror}\n".encode())
            self._end(127)
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)

    def _end(self, code: int) -> None:
        self._code = code
        self._ended = time.monotonic()
        self._output.close()

    @property
    def seconds(self) -> float:
        return (self._ended or time.monotonic()) - self.began

    def poll(self) -> int | None:
        """The exit code of the first command that failed, 0 when all went well, `None` while running."""
        if self._code is None and self._process is not None:
            code = self._process.poll()
            if code is not None and (code or not self._left):
                self._end(code)
            elif code == 0:
                self._next()
        return self._code

    def stop(self) -> None:
        """End everything that was started here: politely first, at once when interrupted again."""
        self._left.clear()
        if self._process is None:
            return
        for number, patience in PATIENCE:
            self._signal(number)
            with contextlib.suppress(subprocess.TimeoutExpired, KeyboardInterrupt):
                self._process.wait(patience)
                break
        self._signal(signal.SIGKILL)  # what its first process has left behind
        self.poll()

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid if self._process else 0, number)

    def last_lines(self, count: int) -> list[str]:
        return self.log.read_text(errors="replace").splitlines()[-count:]


class Tail:
    """The lines that were added to a file since the last look."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._at = 0
        self._rest = b""

    def lines(self) -> Iterator[str]:
        try:
            with self._path.open("rb") as handle:
                handle.seek(self._at)
                new = handle.read()
        except FileNotFoundError:
            return
        self._at += len(new)
        *whole, self._rest = (self._rest + new).split(b"\n")
        for line in whole:
            yield line.decode(errors="replace")
