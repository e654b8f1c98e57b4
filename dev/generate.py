"""Writes what is generated: `make generate`; the tests compare the same texts with what is committed.

Each source of generated files is one function that returns texts by path; nothing is written but what changed, so the
output says what a change of the types really moved.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from box.layout import REPOSITORY
from dev import crd_files, stub_files

Texts = Mapping[Path, str]

SOURCES: tuple[Callable[[], Texts], ...] = (crd_files.texts, stub_files.texts)


def differing() -> dict[Path, str]:
    """The texts that are not, or not so, in the tree."""
    return {
        path: text
        for source in SOURCES
        for path, text in source().items()
        if not (REPOSITORY / path).exists() or (REPOSITORY / path).read_text() != text
    }


def main() -> None:
    for path, text in (changed := differing()).items():
        (REPOSITORY / path).parent.mkdir(parents=True, exist_ok=True)
        (REPOSITORY / path).write_text(text)
        print(f"wrote {path}")
    if not changed:
        print("nothing to write: everything generated is as it should be")


if __name__ == "__main__":
    main()
