"""One box for all tests: up before the first that needs it, down after the last."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.box.driving import Box

HERE = Path(__file__).parent
# The first takes boxes up and down itself, and has the machine to itself while it does. The last ones come with an
# operator at work, which would see what other tests do with its kinds; of them the first begins without one.
FIRST = HERE / "test_lifecycle.py"
LAST = HERE / "cluster"
WITHOUT_OPERATOR = LAST / "test_walkthrough.py"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: _place(item.path))


def _place(path: Path) -> int:
    if path == FIRST:
        return 0
    if path.parent != LAST:
        return 1
    return 2 if path == WITHOUT_OPERATOR else 3


@pytest.fixture(scope="session")
def box() -> Iterator[Box]:
    """Three workers; pods leave a lost node after 5 s instead of 300, which no test could wait for.

    `BOX_TEST_KEEP=1` takes the box as it finds it and leaves it there, for the tenth run of one test in a row.
    """
    the_box = Box(os.environ.get("BOX_TEST_NAME", "test"))
    if os.environ.get("BOX_TEST_KEEP"):
        the_box("up", timeout=900)
        yield the_box
        the_box.api.close()
        return
    try:
        the_box("up", "--fresh", "--nodes", "3", "--tolerate", "5", timeout=900)
        yield the_box
        the_box.api.close()
    finally:
        the_box("down")


@pytest.fixture
def namespace(box: Box, request: pytest.FixtureRequest) -> Iterator[str]:
    """A namespace of the test's own."""
    name = request.node.name.removeprefix("test_").replace("_", "-").lower()
    plain = "".join(letter for letter in name if letter.isalnum() or letter == "-")
    mark = hashlib.sha256(request.node.nodeid.encode()).hexdigest()[:6]  # long names may begin alike
    with box.namespace(f"{plain[:40].strip('-')}-{mark}") as made:
        yield made
