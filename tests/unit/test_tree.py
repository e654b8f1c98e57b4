"""Rules that hold for every file of the repository.

The strings that must not appear are put together here from their parts, or this file would be the first to break them.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from box.layout import REPOSITORY

MAX_LINES = 500
NOT_OURS = {".git", ".hypothesis", ".import_linter_cache", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".venv"}
NOT_OURS |= {"__pycache__", "build", "dist", "site", ".idea", ".vscode", "node_modules"}

REGISTRIES = (
    ("pypi", "org"),
    ("python" + "hosted", "org"),
    ("npmjs", "org"),
    ("npmjs", "com"),
    ("proxy", "golang", "org"),
    ("sum", "golang", "org"),
    ("deb", "debian", "org"),
    ("archive", "ubuntu", "com"),
    ("crates", "io"),
    ("pkg", "dev"),
)
MACHINE_FOLDERS = ("work", "root", "home", "Users")

HOST = re.compile("|".join(rf"\b{re.escape('.'.join(parts))}\b" for parts in REGISTRIES))
MACHINE_PATH = re.compile(rf"(?<![\w.~$}}/-])/(?:{'|'.join(MACHINE_FOLDERS)})/\w")


def files() -> Iterator[Path]:
    folders = [REPOSITORY]
    while folders:
        for entry in folders.pop().iterdir():
            if entry.name in NOT_OURS or entry.is_symlink():
                continue
            if entry.is_dir():
                folders.append(entry)
            else:
                yield entry


def text_of(path: Path) -> str:
    """Empty for what is not text."""
    try:
        return path.read_text()
    except UnicodeDecodeError:
        return ""


def breaches(pattern: re.Pattern[str], text: str) -> list[str]:
    return [found.group() for found in pattern.finditer(text)]


def in_tree(pattern: re.Pattern[str]) -> dict[str, list[str]]:
    found = {str(path.relative_to(REPOSITORY)): breaches(pattern, text_of(path)) for path in files()}
    return {name: places for name, places in found.items() if places}


def imports(source: str) -> set[str]:
    """The packages that a module imports, by their first name."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.partition(".")[0])
    return names


def test_no_file_names_a_package_registry() -> None:
    assert in_tree(HOST) == {}


def test_no_file_holds_a_path_of_the_machine_it_was_written_on() -> None:
    assert in_tree(MACHINE_PATH) == {}


@pytest.mark.parametrize("parts", REGISTRIES, ids=".".join)
def test_a_registry_would_be_found(parts: tuple[str, ...]) -> None:
    host = ".".join(parts)

    assert breaches(HOST, f"curl https://files.{host}/simple") == [host]


@pytest.mark.parametrize("folder", MACHINE_FOLDERS)
def test_a_path_of_a_machine_would_be_found(folder: str) -> None:
    assert breaches(MACHINE_PATH, f"cd '/{folder}/somebody/etcd'")
    assert not breaches(MACHINE_PATH, f"cd $BASE/{folder}/somebody; ls /var/{folder}/x")


def test_the_walk_sees_the_whole_repository() -> None:
    seen = {str(path.relative_to(REPOSITORY)) for path in files()}

    assert {"Makefile", ".ci/run", "box/layout.py", "requirements/dev.txt", "tests/unit/test_tree.py"} <= seen


def test_no_source_file_is_longer_than_500_lines() -> None:
    places = (REPOSITORY / name for name in ("src", "box", "dev", "tests"))
    sources = [path for place in places for path in files() if path.is_relative_to(place)]
    sources = [path for path in sources if path.suffix in {"", ".py", ".go"}]
    lengths = {str(path.relative_to(REPOSITORY)): text_of(path).count("\n") for path in sources}

    assert len(lengths) > 10
    assert {name: length for name, length in lengths.items() if length > MAX_LINES} == {}


@pytest.mark.parametrize("package", ["box", "dev"])
def test_what_runs_before_anything_is_installed_needs_only_the_standard_library(package: str) -> None:
    allowed = sys.stdlib_module_names | {"box", "dev"}
    elsewhere = NOT_OURS | {"generating"}  # runs in the environment, as it says
    sources = [path for path in (REPOSITORY / package).rglob("*.py") if not elsewhere & set(path.parts)]
    foreign = {path.name: imports(path.read_text()) - allowed for path in sources}

    assert sources
    assert {name: names for name, names in foreign.items() if names} == {}


def test_imports_are_read_wherever_they_stand() -> None:
    source = "import os\ndef later():\n    from yaml.reader import x\n    import boto3.session as s\nfrom . import y\n"

    assert imports(source) == {"os", "yaml", "boto3"}


def test_the_licence_is_apache_2() -> None:
    text = (REPOSITORY / "LICENSE").read_text()

    assert "Apache License" in text
    assert "Version 2.0, January 2004" in text
    assert "END OF TERMS AND CONDITIONS" in text


def test_ci_runs_the_tests_and_nothing_else() -> None:
    script = REPOSITORY / ".ci" / "run"
    head, *commands = script.read_text().splitlines()

    assert head == "#!/usr/bin/env bash"
    assert commands == ["set -e", 'cd "$(dirname "$0")/.."', "exec make test"]
    assert script.stat().st_mode & 0o111 == 0o111
