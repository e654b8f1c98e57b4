"""The locks: every package with hashes, none with an address, and nothing forgotten."""

from __future__ import annotations

import re
import tomllib
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from box.layout import REPOSITORY

Lock = dict[str, tuple[Requirement, int]]  # by name, with the number of hashes


def parse(text: str) -> Lock:
    joined = re.sub(r"\\\n\s*", " ", text)
    lock: Lock = {}
    for line in joined.splitlines():
        if line.startswith("#") or not line.strip():
            continue
        written, *hashes = line.split(" --hash=sha256:")
        requirement = Requirement(written.strip())
        lock[canonicalize_name(requirement.name)] = (requirement, len(hashes))
    return lock


def missing(lock: Lock, wanted: list[str]) -> list[str]:
    """What `pyproject.toml` asks for and the lock does not give."""
    lacking = []
    for each in map(Requirement, wanted):
        pinned = lock.get(canonicalize_name(each.name))
        if pinned is None or not all(each.specifier.contains(Version(pin.version)) for pin in pinned[0].specifier):
            lacking.append(str(each))
    return lacking


def read(name: str) -> str:
    return (REPOSITORY / "requirements" / name).read_text()


def project() -> dict[str, Any]:
    return tomllib.loads((REPOSITORY / "pyproject.toml").read_text())


@pytest.mark.parametrize("name", ["runtime.txt", "dev.txt"])
def test_every_package_is_pinned_with_a_hash(name: str) -> None:
    lock = parse(read(name))

    assert lock
    for requirement, hashes in lock.values():
        assert [pin.operator for pin in requirement.specifier] == ["=="], requirement
        assert hashes, requirement


@pytest.mark.parametrize("name", ["runtime.txt", "dev.txt"])
def test_no_lock_carries_an_address(name: str) -> None:
    text = read(name)

    assert "://" not in text
    assert not re.search(r"^\s*--(?!hash)", text, re.MULTILINE)
    assert not re.search(r"\s@\s", text)


def test_the_locks_give_what_the_project_asks_for() -> None:
    runtime, dev = parse(read("runtime.txt")), parse(read("dev.txt"))

    assert missing(runtime, project()["project"]["dependencies"]) == []
    assert missing(dev, project()["dependency-groups"]["dev"]) == []


def test_tests_run_with_the_very_versions_that_users_get() -> None:
    runtime, dev = parse(read("runtime.txt")), parse(read("dev.txt"))

    assert {name: dev.get(name) for name in runtime} == runtime


def test_a_forgotten_or_outdated_pin_is_noticed() -> None:
    lock = parse("click==8.1.0 \\\n    --hash=sha256:00 \\\n    --hash=sha256:01\n# via nothing\n")

    assert lock["click"][1] == 2
    assert missing(lock, ["click>=8"]) == []
    assert missing(lock, ["click>=9", "aiohttp"]) == ["click>=9", "aiohttp"]
