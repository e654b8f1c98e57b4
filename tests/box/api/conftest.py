"""Every test here finds the shipped definitions and policies on the API server; objects go with their namespaces."""

from __future__ import annotations

import secrets
from collections.abc import Iterator

import pytest

from tests.box.api.definitions import install
from tests.box.driving import Box


@pytest.fixture(scope="module", autouse=True)
def definitions(box: Box) -> None:
    """Once for each module, since other tests put definitions of their own in place."""
    install(box)


@pytest.fixture(scope="module")
def common_namespace(box: Box, request: pytest.FixtureRequest) -> Iterator[str]:
    """One namespace for all tests of a module, which name their objects apart."""
    with box.namespace(fresh_name(request.path.stem)) as made:
        yield made


@pytest.fixture
def namespace(box: Box, request: pytest.FixtureRequest) -> Iterator[str]:
    """A namespace of the test's own."""
    with box.namespace(fresh_name(request.function.__name__)) as made:
        yield made


def fresh_name(source: str) -> str:
    """New each time: on a kept box the one of the last run may still be on its way out."""
    plain = source.removeprefix("test_").replace("_", "-")[:40].strip("-")
    return f"api-{plain}-{secrets.token_hex(3)}"
