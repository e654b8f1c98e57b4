"""What the commands understand, and what they pass on untouched."""

from __future__ import annotations

import re

import pytest

from box import cli
from box.layout import BoxError
from box.places import Component, component


@pytest.mark.parametrize(
    ("words", "passed_on"),
    [
        (["kubectl", "-n", "x", "get", "pods", "--watch"], ["-n", "x", "get", "pods", "--watch"]),
        (["--name", "other", "kubectl", "--help"], ["--help"]),
        (["--name=other", "kubectl", "exec", "p", "--", "ls", "-l"], ["exec", "p", "--", "ls", "-l"]),
        (["run", "--", "curl", "-s", "x"], ["curl", "-s", "x"]),
        (["run", "curl", "-s", "x"], ["curl", "-s", "x"]),
        (["node", "run", "w1", "--", "ls", "-l"], ["ls", "-l"]),
    ],
)
def test_a_programs_own_options_are_passed_on(words: list[str], passed_on: list[str]) -> None:
    assert cli.parse(words).arguments == passed_on


def test_a_box_is_chosen_by_name_before_the_command() -> None:
    assert cli.parse(["--name", "other", "status"]).name == "other"
    assert cli.parse(["status"]).name is None


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["up", "--nodes", "0"], "1 to 9 workers, not 0"),
        (["up", "--nodes", "10"], "1 to 9 workers, not 10"),
        (["up", "--kubernetes", "1.0"], "invalid choice"),
        (["net", "loss", "a", "b", "-1"], "."),
        (["net", "loss", "a", "b", "half"], "0 to 100 percent, not half"),
        (["net", "delay", "a", "60001"], "0 to 60000 milliseconds, not 60001"),
        (["s3", "fault", "explode"], "invalid choice"),
        (["node", "explode", "w1"], "invalid choice"),
        ([], "COMMAND"),
    ],
)
def test_bad_input_is_refused(words: list[str], complaint: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        cli.parse(words)

    assert end.value.code == 2
    assert re.search(complaint, capsys.readouterr().err)


def test_help_names_every_command_and_says_how_to_begin(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.parse(["--help"])

    told = capsys.readouterr().out
    for name in ("up", "down", "status", "kubeconfig", "env", "kubectl", "logs", "node", "net", "pause", "image", "s3"):
        assert re.search(rf"^    {name}\s+\w", told, re.MULTILINE), name
    assert 'eval "$(box env)"' in told


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("apiserver", Component("apiserver", "cp")),
        ("kube-apiserver", Component("apiserver", "cp")),
        ("kube-proxy@w2", Component("proxy", "w2")),
        ("kubelet@w1", Component("kubelet", "w1")),
        ("s3-faults", Component("s3-faults")),
    ],
)
def test_components_go_by_their_short_and_their_full_names(text: str, expected: Component) -> None:
    assert component(text) == expected


def test_a_component_of_every_worker_needs_a_node() -> None:
    with pytest.raises(BoxError, match="kubelet@w1"):
        component("kubelet")
