"""The program `etcd-operator`, as far as it goes without a cluster."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from etcd_operator import __version__
from etcd_operator.cli.command_line import OPTIONS, CommandLine
from etcd_operator.cli.operator import main
from etcd_operator.cli.retired import OPERATOR

PROGRAM = "from etcd_operator.cli.operator import main; main(prog_name='etcd-operator')"
OUTSIDE = {name: value for name, value in os.environ.items() if not name.startswith(("KUBE", "MY_POD"))}
INSIDE = {**OUTSIDE, "KUBERNETES_SERVICE_HOST": "192.0.2.1", "KUBERNETES_SERVICE_PORT": "443"}


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments, prog_name="etcd-operator")


def start(*arguments: str, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """A process of its own, as it decides about the whole process's logs."""
    command = [sys.executable, "-c", PROGRAM, *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.parametrize("flag", ["--version", "-version"])
def test_it_tells_its_version_and_needs_nothing_for_that(flag: str) -> None:
    result = run(flag)

    assert (result.exit_code, result.output) == (0, f"etcd-operator {__version__}\n")


@pytest.mark.parametrize("flag", ["--help", "-help", "-h"])
def test_help_has_every_flag(flag: str) -> None:
    result = run(flag)

    assert result.exit_code == 0
    for option in OPTIONS:
        assert option.opts[0] in result.output
    for retired in OPERATOR:
        assert retired.name in result.output


def test_neither_help_nor_version_loads_what_only_the_operator_needs() -> None:
    code = "import sys, etcd_operator.cli.operator; print({'aiohttp', 'grpc', 'prometheus_client'} & set(sys.modules))"

    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert loaded.stdout == "set()\n"


def test_an_unknown_flag_is_refused_in_a_sentence() -> None:
    result = run("--verbose")

    assert result.exit_code == 2
    assert result.stderr == "Error: There is no flag -verbose; --help lists those that there are.\n"


def test_every_option_has_its_field_with_the_same_default() -> None:
    fields = {field.name: field.default for field in dataclasses.fields(CommandLine)}
    context = main.make_context("etcd-operator", [])

    assert {name: value for name, value in context.params.items() if name != "version"} == fields


def test_the_flags_of_the_old_operator_are_all_there() -> None:
    line = "-listen-addr :1 -create-crd=false -cluster-wide -gc-interval 10m -chaos-level -1"

    context = main.make_context("etcd-operator", line.split())

    given = CommandLine(**{name: value for name, value in context.params.items() if name != "version"})
    assert given == CommandLine(listen_addr=":1", create_crd=False, cluster_wide=True)


@pytest.mark.parametrize("missing", ["MY_POD_NAMESPACE", "MY_POD_NAME"])
def test_in_a_pod_it_says_which_variable_is_missing(missing: str) -> None:
    environment = {**INSIDE, "MY_POD_NAMESPACE": "etcd", "MY_POD_NAME": "etcd-operator-1"}
    del environment[missing]

    ended = start("--log-format=json", environment=environment)

    assert ended.returncode == 1
    (line,) = map(json.loads, ended.stderr.splitlines())
    assert line["level"] == "error"
    assert line["message"].startswith(f"The environment variable {missing} is not set.")


def test_a_retired_flag_is_told_and_passed_over() -> None:
    ended = start("-pv-provisioner=none", "-analytics=false", "--log-format=text", environment=INSIDE)

    first, second, *_ = ended.stderr.splitlines()
    assert "The flag -analytics does nothing any more: nothing is sent to anybody" in first
    assert "The flag -pv-provisioner does nothing any more" in second
    assert "MY_POD_NAMESPACE" in ended.stderr


def test_outside_of_a_cluster_without_a_kubeconfig_it_says_so(tmp_path: Path) -> None:
    missing = tmp_path / "nowhere"

    ended = start(f"--kubeconfig={missing}", environment=OUTSIDE)

    assert ended.returncode == 1
    assert "No way to a Kubernetes cluster" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_outside_of_a_pod_the_image_must_be_named(tmp_path: Path) -> None:
    kubeconfig = tmp_path / "config"
    kubeconfig.write_text(
        "apiVersion: v1\nkind: Config\ncurrent-context: a\n"
        "contexts: [{name: a, context: {cluster: a, user: a}}]\n"
        "users: [{name: a, user: {}}]\n"
        "clusters: [{name: a, cluster: {server: 'http://192.0.2.1:1'}}]\n"
    )

    ended = start("--kubeconfig", str(kubeconfig), environment=OUTSIDE)

    assert ended.returncode == 2
    assert "--operator-image" in ended.stderr


def test_an_address_that_is_none_is_refused() -> None:
    ended = start("--listen-addr=8080", environment=INSIDE)

    assert ended.returncode == 2
    assert "'8080' is no address to listen on" in ended.stderr
