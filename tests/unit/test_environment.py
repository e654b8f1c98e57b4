"""The Python environment of the checks: made once, remade when the lock changes, and nothing of it in the tree."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from box.layout import REPOSITORY
from dev.environment import Environment, SetupError, ensure, remove, try_again

LOCK = "click==8.5.1 \\\n    --hash=sha256:00\nruff==0.17.4 \\\n    --hash=sha256:01\n"


@pytest.fixture
def environment(tmp_path: Path) -> Environment:
    return Environment(home=tmp_path / "cache", lock=Path("dev.txt"), lock_text=LOCK)


def test_another_lock_is_another_environment(environment: Environment) -> None:
    assert replace(environment, lock=Path("dev.txt"), lock_text=LOCK).path == environment.path
    assert replace(environment, lock=Path("dev.txt"), lock_text=LOCK.replace("17.4", "17.5")).path != environment.path


def test_a_finished_environment_is_left_alone(environment: Environment) -> None:
    environment.path.mkdir(parents=True)
    environment.stamp.touch()

    ensure(environment)

    assert list(environment.path.iterdir()) == [environment.stamp]


def test_no_cache_of_any_tool_is_in_the_tree(environment: Environment) -> None:
    variables = environment.variables({"PATH": "/usr/bin"})

    for name in ("RUFF_CACHE_DIR", "HYPOTHESIS_STORAGE_DIRECTORY"):
        assert Path(variables[name]).is_relative_to(environment.home)
    assert variables["MYPY_CACHE_DIR"] == os.devnull
    assert str(environment.caches / "pytest") in variables["PYTEST_ADDOPTS"]
    assert variables["PYTHONDONTWRITEBYTECODE"] == "1"
    assert not environment.home.is_relative_to(REPOSITORY)


def test_its_programs_come_before_those_of_the_host(environment: Environment) -> None:
    assert environment.variables({"PATH": "/usr/bin"})["PATH"] == f"{environment.bin}:/usr/bin"


def test_packages_are_counted_from_the_lock(environment: Environment) -> None:
    assert environment.packages == 2


def test_removing_takes_every_environment_and_the_caches_only(environment: Environment) -> None:
    older = replace(environment, lock_text="")
    kept = environment.home / "tools"
    for folder in (environment.path, older.path, environment.caches, kept):
        folder.mkdir(parents=True)

    remove(environment)

    assert list(environment.home.iterdir()) == [kept]


def test_a_download_that_fails_once_is_tried_again(tmp_path: Path) -> None:
    mark = tmp_path / "tried"

    try_again(["sh", "-c", f"test -e {mark} || {{ touch {mark}; exit 1; }}"], what="the download", pause=0)

    assert mark.exists()


def test_a_download_that_keeps_failing_is_told_in_a_sentence() -> None:
    with pytest.raises(SetupError, match="the download ended with 7"):
        try_again(["sh", "-c", "exit 7"], what="the download", pause=0)
