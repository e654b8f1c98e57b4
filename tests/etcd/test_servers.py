"""The harness itself: what it starts is of the version it says, and nothing of it stays."""

from __future__ import annotations

import json
import subprocess
import urllib.request
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.etcd.servers import VERSIONS, ServerError, cluster, release


def processes_of(folder: Path) -> list[str]:
    listed = subprocess.run(["ps", "-ww", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    return [line for line in listed.splitlines() if str(folder) in line]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_server_is_of_the_version_asked_for(version: str) -> None:
    with cluster(version) as made, urllib.request.urlopen(f"{made[0].client_url}/version", timeout=5) as answer:
        assert json.load(answer)["etcdserver"] == release(version)


def test_every_minor_from_3_2_to_3_7_is_there() -> None:
    assert VERSIONS == ("3.2", "3.3", "3.4", "3.5", "3.6", "3.7")


def test_nothing_is_left_of_a_cluster_whose_test_failed() -> None:
    stack = ExitStack()
    made = stack.enter_context(cluster("3.6", size=3))
    made[1].freeze()
    assert len(processes_of(made.folder)) == 3
    stack.__exit__(ZeroDivisionError, ZeroDivisionError(), None)

    assert processes_of(made.folder) == []
    assert not made.folder.exists()


def test_a_server_that_cannot_start_says_why() -> None:
    with pytest.raises(ServerError, match="no-such-flag"), cluster("3.6", extra=("--no-such-flag",)):
        pass
