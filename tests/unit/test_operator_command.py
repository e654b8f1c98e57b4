"""The program `etcd-operator`, as far as it goes today."""

from __future__ import annotations

import pytest
from click.testing import CliRunner, Result

from etcd_operator import __version__
from etcd_operator.cli.operator import main


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments, prog_name="etcd-operator")


def test_it_tells_its_version() -> None:
    result = run("--version")

    assert (result.exit_code, result.output) == (0, f"etcd-operator {__version__}\n")


@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_help_says_that_clusters_are_not_run_yet(flag: str) -> None:
    result = run(flag)

    assert result.exit_code == 0
    assert "not in this release yet" in " ".join(result.output.split())


def test_without_arguments_it_refuses_in_one_sentence() -> None:
    result = run()

    assert result.exit_code == 2
    assert result.stdout == ""
    assert "cannot run etcd clusters yet" in result.stderr
    assert result.stderr.count("\n") == 1


def test_an_unknown_flag_is_refused() -> None:
    assert run("--cluster-wide").exit_code == 2
