"""The scripts of the example tree, as far as they need nobody else: help, mistakes, and what is missing."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from box.layout import REPOSITORY

CREATE_ROLE = REPOSITORY / "example/rbac/create_role.sh"
GEN_CERT = REPOSITORY / "example/tls/certs/gen-cert.sh"
SCRIPTS = pytest.mark.parametrize("script", [CREATE_ROLE, GEN_CERT], ids=lambda script: script.name)
NEEDED = ("env", "bash", "basename", "dirname", "cat", "sed")


@pytest.fixture
def bare(tmp_path: Path) -> dict[str, str]:
    """A PATH with what every system has, and with neither kubectl nor openssl."""
    for name in NEEDED:
        found = shutil.which(name)
        assert found, name
        (tmp_path / name).symlink_to(found)
    return {"PATH": str(tmp_path)}


def run(script: Path, *options: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run([script, *options], env=env, capture_output=True, text=True, check=False)


@SCRIPTS
@pytest.mark.parametrize("option", ["-h", "--help"])
def test_help_is_given_on_request(script: Path, option: str) -> None:
    done = run(script, option)

    assert done.returncode == 0
    assert "Usage:" in done.stderr


@SCRIPTS
def test_an_unknown_option_is_named_and_nothing_is_done(script: Path) -> None:
    done = run(script, "--nonsense")

    assert done.returncode == 1
    assert "Unknown option: --nonsense" in done.stderr
    assert "Usage:" in done.stderr
    assert done.stdout == ""


def test_every_option_that_users_know_is_in_the_help() -> None:
    text = run(CREATE_ROLE, "--help").stderr

    for known in (
        "--role-name=",
        "--role-binding-name=",
        "--namespace=",
        "ROLE_NAME",
        "ROLE_BINDING_NAME",
        "NAMESPACE",
    ):
        assert known in text


def test_without_kubectl_it_says_so(bare: dict[str, str]) -> None:
    done = run(CREATE_ROLE, env=bare)

    assert done.returncode == 1
    assert done.stderr.startswith("kubectl is not in the PATH")


def test_without_openssl_it_says_so_and_which_package_has_it(bare: dict[str, str]) -> None:
    done = run(GEN_CERT, env=bare)

    assert done.returncode == 1
    assert done.stderr.startswith("openssl is not in the PATH")
    assert "apt-get install openssl" in done.stderr
