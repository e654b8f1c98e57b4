"""What the documents show: links that lead somewhere, and commands of the box that it understands."""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from box import cli
from box.layout import REPOSITORY

LINK = re.compile(r"\[[^\]]*\]\((?!\w+:)(?P<target>[^)\s]+)\)")
HEADING = re.compile(r"^#+ (?P<text>.+)$", re.MULTILINE)
BLOCK = re.compile(r"^```(?P<language>\w*)\n(?P<text>.*?)^```", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`(?P<text>[^`\n]+)`")
COMMAND = re.compile(r"^(?:eval \"\$\()?(?:BOX_NAME=\w+ )?(?:box/)?box (?P<arguments>[^`)\n]+)")
NUMBERS = {"SECONDS": "10", "PERCENT": "30", "MS": "50", "BYTES": "1000", "N": "2"}
INCOMPLETE = "the following arguments are required"


def documents() -> list[Path]:
    return sorted([*REPOSITORY.glob("*.md"), *(REPOSITORY / "docs").rglob("*.md")])


def name_of(path: Path) -> str:
    return str(path.relative_to(REPOSITORY))


def anchors(text: str) -> set[str]:
    headings = (found["text"].lower() for found in HEADING.finditer(text))
    return {re.sub(r"[^\w\- ]", "", heading).replace(" ", "-") for heading in headings}


def broken_links(path: Path) -> list[str]:
    broken = []
    for found in LINK.finditer(path.read_text()):
        file, _, anchor = found["target"].partition("#")
        target = (path.parent / file).resolve() if file else path
        if not target.exists() or (anchor and anchor not in anchors(target.read_text())):
            broken.append(found["target"])
    return broken


def box_commands(text: str) -> Iterator[tuple[str, bool]]:
    """The arguments of every `box …`, and whether it stands in a block, ready to be typed."""
    for block in BLOCK.finditer(text):
        for line in block["text"].splitlines() if block["language"] == "sh" else ():
            if found := COMMAND.match(line):
                yield found["arguments"], True
    for code in INLINE.finditer(BLOCK.sub("", text)):
        if found := COMMAND.match(code["text"]):
            yield found["arguments"], False


def refusal(arguments: str, capsys: pytest.CaptureFixture[str]) -> str:
    """Why the box does not understand this, empty when it does."""
    words = [NUMBERS.get(word, word) for word in shlex.split(arguments)]
    try:
        cli.parse(words)
    except SystemExit as end:
        return capsys.readouterr().err.strip().rpartition("\n")[2] if end.code else ""
    return ""


@pytest.mark.parametrize("path", documents(), ids=name_of)
def test_every_link_leads_somewhere(path: Path) -> None:
    assert broken_links(path) == []


def test_a_broken_link_is_noticed(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# A title\n[one](page.md#a-title) [two](page.md#else) [three](gone.md) [web](https://x.example)\n")

    assert broken_links(page) == ["page.md#else", "gone.md"]


@pytest.mark.parametrize("path", documents(), ids=name_of)
def test_every_command_of_the_box_is_one_that_it_understands(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, typed in box_commands(path.read_text()):
        if arguments.startswith("COMMAND"):
            continue
        why = refusal(arguments, capsys)
        assert not why or (not typed and INCOMPLETE in why), f"box {arguments}: {why}"


@pytest.mark.parametrize("arguments", ["fly", "node explode w1", "up --nodes 0", "net loss a b 101", "s3 fault maybe"])
def test_a_command_that_does_not_exist_is_noticed(arguments: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert "error" in refusal(arguments, capsys)


def test_commands_are_found_in_blocks_and_in_prose() -> None:
    text = (
        'Call `box up`, not `boxes`.\n```sh\neval "$(box env)"\nBOX_NAME=demo box/box node kill w2\n```\n`box --help`\n'
    )

    assert list(box_commands(text)) == [("env", True), ("node kill w2", True), ("up", False), ("--help", False)]


def commands_of(parser: argparse.ArgumentParser) -> Iterator[str]:
    """Every command that the box has, as it is typed."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, below in action.choices.items():
                inner = list(commands_of(below))
                yield from (f"{name} {each}" for each in inner) if inner else (name,)


def test_every_command_of_the_box_is_documented() -> None:
    text = (REPOSITORY / "docs" / "box" / "commands.md").read_text()
    text += "".join(page.read_text() for page in (REPOSITORY / "docs" / "box").glob("*.md"))
    shown = {arguments for arguments, _ in box_commands(text)}
    hidden = [
        name for name in commands_of(cli.parser()) if not any(f"{each} ".startswith(f"{name} ") for each in shown)
    ]

    assert hidden == []
