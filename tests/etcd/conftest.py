"""Servers for the tests: started once for all tests that can share them, and one kind at a time.

pytest groups the tests by the parameters of these fixtures, so that only one cluster of each kind runs at once.
"""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Generator, Iterator
from pathlib import Path

import pytest

from etcd_operator.etcd.pool import Pool
from tests.etcd.servers import VERSIONS, Cluster, cluster

BOTH_WAYS = tuple((version, tls) for version in VERSIONS for tls in (False, True))


def name_of(setup: tuple[str, bool]) -> str:
    version, tls = setup
    return f"{version}-{'tls' if tls else 'plain'}"


@pytest.fixture(scope="session", params=BOTH_WAYS, ids=name_of)
def single(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """One member, of every version, in plain text and with mutual TLS; shared, so leave it as you found it."""
    version, tls = request.param
    with cluster(version, tls=tls) as made:
        yield made


@pytest.fixture(scope="session", params=VERSIONS)
def three(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """Three members with mutual TLS, of every version; shared, so leave them as you found them."""
    with cluster(request.param, size=3, tls=True) as made:
        yield made


@pytest.fixture
async def pool() -> AsyncIterator[Pool]:
    async with Pool() as made:
        yield made


@pytest.fixture
def prefix(request: pytest.FixtureRequest) -> bytes:
    """Keys of the test's own."""
    return f"{request.node.nodeid}/".encode()


@pytest.fixture
def scratch() -> Iterator[Path]:
    """A folder that is gone after the test: pytest keeps its own, and these files are large."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A failed test shows the last words of the servers it used."""
    report = yield
    if report.failed:
        fixtures = getattr(item, "funcargs", {})
        report.sections += [("etcd", used.logs()) for used in fixtures.values() if isinstance(used, Cluster)]
    return report
