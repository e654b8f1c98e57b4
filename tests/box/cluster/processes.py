"""The processes of members, found on this machine by their command lines: to be ended, or frozen for a while."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def of_member(name: str) -> int:
    """The process ID of a member's etcd. Names of members are never used twice, not even by two boxes."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().decode().split("\0")
        except OSError:
            continue
        if words[0].endswith("/etcd") and (f"--name={name}" in words):
            return int(folder.name)
    raise AssertionError(f"no etcd called {name} is running")


def end(name: str) -> None:
    """As a crash would."""
    os.kill(of_member(name), signal.SIGKILL)


@contextmanager
def frozen(name: str) -> Iterator[None]:
    """Its connections stay open, and nothing answers on them."""
    pid = of_member(name)
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)
