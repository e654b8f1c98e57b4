"""The tools of `box.toolchain.tools` in the cache, each built once.

A tool lives in `tools/NAME/FINGERPRINT`, and the fingerprint covers everything that decides the result: so a changed
pin rebuilds its tool and no other, and two checkouts with different pins share one cache. The folder appears by a
rename when it is complete; an interrupted build leaves nothing but go's own cache, from which the next one goes on.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

from box.layout import BoxError, Layout
from box.lock import locked
from box.progress import Say, size
from box.toolchain.go_command import find_go
from box.toolchain.tool_build import ToolBuild, build_flags
from box.toolchain.tools import GoModule, Tool, tool

RECIPE = "1"  # to be raised when the way of building changes what comes out
KEPT_FINGERPRINTS = 2
DISK_FOR_KUBERNETES = 12 * 10**9  # go's build cache 7 GB, modules 1 GB, images and their store 3 GB
DISK_FOR_OTHERS = 3 * 10**9


def program(layout: Layout, name: str, binary: str) -> Path:
    """Where a program of a tool is, or will be once it is built."""
    return folder(layout, name) / binary


def folder(layout: Layout, name: str) -> Path:
    return layout.tools / name / fingerprint(tool(name))


def missing(layout: Layout, names: Iterable[str]) -> list[str]:
    return [name for name in names if not folder(layout, name).is_dir()]


def ensure(layout: Layout, names: Iterable[str], *, say: Say) -> None:
    """Builds those of the named tools that are missing."""
    names = list(names)
    if missing(layout, names):
        with locked(layout.tools / "lock", what="build of tools", say=say):
            _build(layout, missing(layout, names), say=say)  # asked again: the lock's last holder may have built them
    for name in names:
        os.utime(folder(layout, name))
        _drop_old(layout.tools / name)


def fingerprint(wanted: Tool) -> str:
    digest = hashlib.sha256(f"{RECIPE} {wanted.source!r}".encode())
    if isinstance(wanted.source, GoModule):
        source = wanted.source
        digest.update(f"{find_go(source.path).identity} {' '.join(build_flags(source))}".encode())
        pins = source.path / source.modfile
        for file in (pins, pins.with_suffix(".sum"), *sorted(source.path.glob("*.go"))):
            if file.exists():  # a module without dependencies has no sums
                digest.update(f"{file.name}\n".encode() + file.read_bytes())
    return digest.hexdigest()[:16]


def _build(layout: Layout, names: Sequence[str], *, say: Say) -> None:
    _check_disk(layout, names)
    times = Times(layout.tools / "times.json")
    for number, name in enumerate(names, start=1):
        build = ToolBuild(
            tool(name),
            goal=folder(layout, name),
            work=layout.tools / "work" / name,
            place=f"{number} of {len(names)} tools",
            last=times.last(name),
            say=say,
        )
        times.record(name, build.run())


def _check_disk(layout: Layout, names: Sequence[str]) -> None:
    needed = DISK_FOR_KUBERNETES if any(name.startswith("kubernetes") for name in names) else DISK_FOR_OTHERS
    free = shutil.disk_usage(layout.tools).free
    if names and free < needed:
        raise BoxError(
            f"{size(free)} are free on the disk of {layout.home}, building {', '.join(names)} takes up to "
            f"{size(needed)}: free some, or set BOX_HOME and GOCACHE to folders on a larger disk."
        )


def _drop_old(of_tool: Path) -> None:
    """Keeps the build in use and the one before it, so that going back and forth between two pins costs nothing."""
    newest_first = sorted(of_tool.iterdir(), key=lambda build: build.stat().st_mtime, reverse=True)
    for old in newest_first[KEPT_FINGERPRINTS:]:
        shutil.rmtree(old)


class Times:
    """How long each tool took last time, for the progress line."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def _all(self) -> dict[str, float]:
        try:
            return {str(name): float(seconds) for name, seconds in json.loads(self._file.read_text()).items()}
        except (FileNotFoundError, ValueError, AttributeError):
            return {}

    def last(self, name: str) -> float | None:
        return self._all().get(name)

    def record(self, name: str, seconds: float) -> None:
        fresh = self._file.with_suffix(".new")
        fresh.write_text(json.dumps({**self._all(), name: round(seconds, 1)}, indent=1, sort_keys=True) + "\n")
        fresh.rename(self._file)
