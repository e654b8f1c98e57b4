"""Nodes that lose their power and get it back, around a test that must leave all of them running."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tests.box.driving import Box
from tests.box.pods import wait_node


def kill(box: Box, *nodes: str) -> None:
    for node in nodes:
        box("node", "kill", node)


def start(box: Box, *nodes: str) -> None:
    for node in nodes:
        box("node", "start", node)
    for node in nodes:
        wait_node(box, node, ready=True)


@contextmanager
def all_back_afterwards(box: Box) -> Iterator[None]:
    names = [node["metadata"]["name"] for node in box.api.list("/api/v1/nodes")]
    try:
        yield
    finally:
        for name in names:
            box.command("node", "start", name)
            box.kubectl("uncordon", name)
        for name in names:
            wait_node(box, name, ready=True)
