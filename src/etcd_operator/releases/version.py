"""Versions of etcd, and the series they belong to.

Two numbers name a series (3.5); it is what etcd's own rules speak of. The third is a patch, and within a series any
patch runs beside any other.

What comes after a third number does not count. It may be a pre-release (`3.6.0-rc.1`) or the build of a distributor
(`3.5.9-0`), and nothing tells one from the other; both can do what the release they are named after can do.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_WRITTEN = re.compile(r"v*([0-9]{1,6})\.([0-9]{1,6})(?:\.([0-9]{1,6}))?(?:[-+].*)?")


class NotAVersionError(ValueError):
    """A text that cannot be compared with versions of etcd."""


class Series(NamedTuple):
    """All versions that share their first two numbers."""

    major: int
    minor: int

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"


class Version(NamedTuple):
    major: int
    minor: int
    patch: int = 0

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}"

    @property
    def series(self) -> Series:
        return Series(self.major, self.minor)

    @classmethod
    def parse(cls, text: str) -> Version:
        """`3.6.1`, `v3.6.1` (with any number of v, as the old operator took them), also with a tail."""
        found = _WRITTEN.fullmatch(text)
        if not found:
            raise NotAVersionError(f"'{text}' is no version of etcd that can be compared with others")
        major, minor, patch = found.groups(default="0")
        return cls(int(major), int(minor), int(patch))
