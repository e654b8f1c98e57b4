"""A client of the box's API server, for every test of the Kubernetes runtime."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Iterator

import pytest

from etcd_operator.kube.client import Client
from etcd_operator.kube.connection import Connection
from etcd_operator.kube.kubeconfig import from_kubeconfig
from tests.box.driving import Box


@pytest.fixture
def connection(box: Box) -> Connection:
    return from_kubeconfig(files=(box.layout.kubeconfig,))


@pytest.fixture
async def client(connection: Connection) -> AsyncIterator[Client]:
    async with Client(connection, user_agent="etcd-operator/test (tests)") as made:
        yield made


@pytest.fixture(scope="module")
def place(box: Box, request: pytest.FixtureRequest) -> Iterator[str]:
    """One namespace for a whole file, as making one takes longer than most tests do."""
    name = request.module.__name__.rpartition(".")[2].removeprefix("test_").replace("_", "-")
    # Not the same name twice: the namespace of a run just ended may still be going away.
    with box.namespace(f"kube-{name}-{secrets.token_hex(3)}") as made:
        yield made
