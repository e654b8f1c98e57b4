"""The front door: every target says what it does, and no document names one that is not there."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from box.layout import REPOSITORY

RULE = re.compile(r"^(?P<name>[A-Za-z][\w-]*)\s*:(?!=)(?P<rest>.*)$", re.MULTILINE)
SENTENCE = re.compile(r"## (?P<text>[A-Z].+\.)$")
SHOWN = re.compile(r"(?:^|`|\$ |sudo |&& )make ([a-z][a-z-]*)", re.MULTILINE)


def targets(makefile: str) -> dict[str, str | None]:
    """Every target and its sentence, `None` where there is none."""
    found = {}
    for rule in RULE.finditer(makefile):
        sentence = SENTENCE.search(rule["rest"])
        found[rule["name"]] = sentence["text"] if sentence else None
    return found


def ours() -> dict[str, str | None]:
    return targets((REPOSITORY / "Makefile").read_text())


def documents() -> list[Path]:
    return [*REPOSITORY.glob("*.md"), *(REPOSITORY / "docs").rglob("*.md")]


def test_every_target_has_a_sentence() -> None:
    assert ours()
    assert [name for name, sentence in ours().items() if sentence is None] == []


def test_a_target_without_a_sentence_is_noticed() -> None:
    assert targets("a: ## Does it.\nb: a\nC := 1\nd: ## no sentence\n") == {"a": "Does it.", "b": None, "d": None}


def test_make_alone_lists_every_target() -> None:
    shown = subprocess.run(["make"], cwd=REPOSITORY, check=True, capture_output=True, text=True).stdout

    lines = [line.split(maxsplit=2) for line in shown.splitlines()]
    assert {target: sentence for _, target, sentence in lines} == ours()


def test_every_target_is_declared_phony() -> None:
    declared = re.findall(r"^\.PHONY: (.+)$", (REPOSITORY / "Makefile").read_text(), re.MULTILINE)

    assert sorted(declared) == sorted(ours())


def test_documents_name_only_targets_that_exist() -> None:
    named = {(path.name, target) for path in documents() for target in SHOWN.findall(path.read_text())}

    assert {("README.md", "demo"), ("README.md", "test")} <= named
    assert {(path, target) for path, target in named if target not in ours()} == set()


def test_a_target_is_recognized_in_prose_and_in_code() -> None:
    text = "Run `make demo` or\nmake test\n    $ make lint, and it will make sense."

    assert SHOWN.findall(text) == ["demo", "test", "lint"]


def test_the_readme_starts_with_the_two_commands() -> None:
    first_block = (REPOSITORY / "README.md").read_text().split("```")[1]

    assert re.findall(r"^make (\S+)", first_block, re.MULTILINE) == ["demo", "test"]


@pytest.mark.parametrize(
    ("given", "used"),
    [
        pytest.param(["KUBECONFIG=/elsewhere/config"], True, id="named on the command line"),
        pytest.param([], False, id="only in the environment"),
        pytest.param(["-e"], False, id="the environment overriding"),
    ],
)
@pytest.mark.parametrize("target", ["demo", "demo-down"])
def test_the_demo_takes_a_cluster_only_when_it_is_named_to_make(target: str, given: list[str], used: bool) -> None:
    variables = {"PATH": "/usr/bin:/bin", "KUBECONFIG": "/elsewhere/config"}
    plan = subprocess.run(
        ["make", "--dry-run", target, *given], cwd=REPOSITORY, check=True, capture_output=True, text=True, env=variables
    ).stdout

    assert "dev.demo" in plan
    assert ("--kubeconfig '/elsewhere/config'" in plan) is used
