"""The commands that the page about the resources shows, typed one after another as a reader would."""

from __future__ import annotations

import re
import shlex

import pytest

from box.layout import REPOSITORY
from tests.box.driving import Box, CommandFailedError

PAGE = REPOSITORY / "docs" / "resources.md"
BLOCK = re.compile(r"^```sh\n(?P<text>.*?)^```", re.MULTILINE | re.DOTALL)


def commands() -> list[list[str]]:
    blocks = [found["text"] for found in BLOCK.finditer(PAGE.read_text())]
    return [shlex.split(line) for block in blocks for line in block.splitlines()]


def from_the_repository(word: str) -> str:
    """A path as it is meant where the reader stands."""
    return str(REPOSITORY / word) if (REPOSITORY / word).exists() else word


def test_every_command_of_the_page_works_in_its_order(box: Box, namespace: str) -> None:
    shown = commands()

    assert ["kubectl", "apply", "-f", "deploy/crds"] in shown
    for program, *arguments in shown:
        assert program == "kubectl"
        assert box.kubectl("-n", namespace, *map(from_the_repository, arguments))
    assert box.get("etcd", "example-etcd-cluster", namespace)["spec"]["size"] == 5


def test_a_mistyped_field_is_refused_by_its_name(box: Box, namespace: str) -> None:
    text = (REPOSITORY / "example" / "example-etcd-cluster.yaml").read_text()
    mistyped = text.replace("  size: 3", "  size: 3\n  pausd: true")

    with pytest.raises(CommandFailedError, match=r'unknown field "spec\.pausd"'):
        box.kubectl("apply", "-n", namespace, "-f", "-", given=mistyped)
