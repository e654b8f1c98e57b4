"""One process at a time, across everything that shares a cache."""

from __future__ import annotations

import contextlib
import fcntl
from collections.abc import Iterator
from pathlib import Path

from box.progress import Say


@contextlib.contextmanager
def locked(path: Path, *, what: str, say: Say, shared: bool = False) -> Iterator[None]:
    """Holds a lock file; the kernel lets go of it when its holder dies, however it dies.

    Any number may hold it `shared` at a time: those who only read what it guards.
    """
    kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        try:
            fcntl.flock(file, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"Another {what} is running: waiting for it to end.")
            fcntl.flock(file, kind)
        yield
