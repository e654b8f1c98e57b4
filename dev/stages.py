"""What is checked, in which order, and by which commands: the Makefile's targets and `make test` read the same rows."""

from __future__ import annotations

import sys
from dataclasses import dataclass

BOX = (sys.executable, "box/box")


@dataclass(frozen=True)
class Stage:
    """One line of the report."""

    name: str
    does: str
    commands: tuple[tuple[str, ...], ...]
    needs_box: bool = False  # only once the Debian packages and the Go tools are there


SETUP = Stage("setup", "Debian packages of the box", ((*BOX, "setup"),))
BUILD = Stage("build", "Go tools and images of the box, into the cache", ((*BOX, "build"),))

CHECKS: tuple[Stage, ...] = (
    Stage(
        "lint",
        "ruff: rules and format",
        (("ruff", "check", "--output-format=concise", "."), ("ruff", "format", "--check", ".")),
    ),
    Stage("types", "mypy, strict", (("mypy",),)),
    Stage("layers", "import-linter: who may import whom", (("lint-imports", "--no-cache"),)),
    Stage("unit", "tests/unit", (("pytest", "tests/unit"),)),
    Stage("etcd-test", "tests/etcd, against real etcd servers", (("pytest", "tests/etcd"),), needs_box=True),
    Stage("box-test", "tests/box, on a real Kubernetes", (("pytest", "tests/box"),), needs_box=True),
)


def stage(name: str) -> Stage:
    return next(candidate for candidate in CHECKS if candidate.name == name)
