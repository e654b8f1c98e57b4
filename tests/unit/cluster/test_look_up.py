"""The DNS check of a user's own image, run by a shell as it would be there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from etcd_operator.cluster.containers import LOOK_UP

# The tool is not on every machine; what it does is a lookup, and its exit code.
NSLOOKUP = f"""#!{sys.executable}
import socket, sys
try:
    socket.getaddrinfo(sys.argv[1], None)
except OSError as error:
    sys.exit(str(error))
"""


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    program = tmp_path / "nslookup"
    program.write_text(NSLOOKUP)
    program.chmod(0o755)
    return tmp_path


def look_up(tools: Path, host: str, *, timeout: int) -> subprocess.CompletedProcess[str]:
    environment = {
        "PATH": f"{tools}:{os.environ['PATH']}",
        "MEMBER_HOST": host,
        "DNS_TIMEOUT": str(timeout),
        "TERMINATION_LOG": str(tools / "termination-log"),
    }
    return subprocess.run(
        ["/bin/sh", "-c", LOOK_UP], env=environment, capture_output=True, text=True, timeout=120, check=False
    )


@pytest.mark.parametrize("timeout", [0, 1])
def test_a_name_that_resolves_ends_it(tools: Path, timeout: int) -> None:
    assert look_up(tools, "localhost", timeout=timeout).returncode == 0
    assert not (tools / "termination-log").exists()


def test_a_name_that_does_not_ends_it_after_as_many_tries_with_the_reason_that_the_guard_would_give(
    tools: Path,
) -> None:
    ended = look_up(tools, "", timeout=2)

    assert ended.returncode == 1
    assert len(ended.stderr.splitlines()) == 2
    assert json.loads((tools / "termination-log").read_text())["reason"] == "DNSTimeout"


def test_without_a_limit_it_goes_on(tools: Path) -> None:
    with pytest.raises(subprocess.TimeoutExpired):
        subprocess.run(
            ["/bin/sh", "-c", LOOK_UP],
            env={"PATH": f"{tools}:{os.environ['PATH']}", "MEMBER_HOST": "", "DNS_TIMEOUT": "0"},
            capture_output=True,
            timeout=3,
            check=False,
        )
