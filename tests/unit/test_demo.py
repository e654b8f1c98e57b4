"""The demo's manners towards a cluster that is not its own, and the objects that it sends."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from dev.demo import image
from dev.etcd_pods import MARK, MEMBERS, NAMESPACE, command, manifests, peer_url
from dev.target import DemoError, Target, consent, must_be_ours, own_cluster


def a_cluster(tmp_path: Path, *, namespace: str = "", answers: bool = True) -> Target:
    """A kubectl that knows one context and, perhaps, the demo's namespace; it writes down what it is asked."""
    program = tmp_path / "kubectl"
    program.write_text(
        "#!/bin/sh\n"
        f'echo "$@" >> {tmp_path}/asked\n'
        "case $1-$2 in\n"
        "config-current-context) echo prod ;;\n"
        "config-view) printf https://prod.example:6443 ;;\n"
        f"get-namespace) printf %s '{namespace}'; exit {int(not answers)} ;;\n"
        "esac\n"
    )
    program.chmod(0o755)
    return Target((str(program),))


def a_namespace(labels: dict[str, str]) -> str:
    return json.dumps({"metadata": {"name": NAMESPACE, "labels": labels}})


@pytest.fixture
def nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """A standard input that is not a terminal, as in a pipeline."""
    monkeypatch.setattr("sys.stdin", io.StringIO("yes\n"))
    monkeypatch.delenv("DEMO_YES", raising=False)


@pytest.mark.usefixtures("nobody")
def test_without_a_person_to_ask_nothing_is_touched(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(DemoError, match="nothing was touched"):
        consent(a_cluster(tmp_path), to="create a namespace")

    assert "context prod, server https://prod.example:6443\nThis will create a namespace." in capsys.readouterr().out
    assert all(line.startswith("config ") for line in (tmp_path / "asked").read_text().splitlines())


@pytest.mark.usefixtures("nobody")
def test_a_yes_in_the_environment_is_a_yes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEMO_YES", "1")

    consent(a_cluster(tmp_path), to="create a namespace")


@pytest.mark.parametrize(("typed", "goes_on"), [("yes", True), ("y", False), ("", False), ("YES", False)])
def test_only_a_typed_yes_is_a_yes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, typed: str, goes_on: bool) -> None:
    terminal = io.StringIO(f"{typed}\n")
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr("sys.stdin", terminal)
    monkeypatch.delenv("DEMO_YES", raising=False)

    if goes_on:
        consent(a_cluster(tmp_path), to="create a namespace")
    else:
        with pytest.raises(DemoError, match="Not a yes"):
            consent(a_cluster(tmp_path), to="create a namespace")


def test_a_namespace_of_somebody_else_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DemoError, match="was not made by this demo"):
        must_be_ours(a_cluster(tmp_path, namespace=a_namespace({"team": "payments"})))


def test_the_demos_own_namespace_is_recognized(tmp_path: Path) -> None:
    assert must_be_ours(a_cluster(tmp_path, namespace=a_namespace({**MARK, "kubernetes.io/metadata.name": NAMESPACE})))
    assert not must_be_ours(a_cluster(tmp_path))


def test_a_cluster_that_does_not_answer_is_told_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(DemoError, match="does not answer"):
        must_be_ours(a_cluster(tmp_path, answers=False))


def test_a_kubeconfig_that_is_not_there_is_told_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(DemoError, match="There is no file"):
        own_cluster(tmp_path / "config")


def items() -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = manifests(image=image())["items"]
    return made


def test_nothing_is_created_outside_the_demos_namespace() -> None:
    first, *others = items()

    assert (first["kind"], first["metadata"]["name"], first["metadata"]["labels"]) == ("Namespace", NAMESPACE, MARK)
    assert {each["metadata"]["namespace"] for each in others} == {NAMESPACE}
    assert {each["kind"] for each in others} == {"Service", "Pod"}


def test_every_member_knows_all_three_by_name() -> None:
    for member in MEMBERS:
        (known,) = [flag for flag in command(member) if flag.startswith("--initial-cluster=")]
        assert known == "--initial-cluster=" + ",".join(f"{each}={peer_url(each)}" for each in MEMBERS)
        assert f"--initial-advertise-peer-urls={peer_url(member)}" in command(member)


def test_the_image_is_that_of_a_release_the_box_builds() -> None:
    name, _, tag = image().partition(":v")

    assert name == "quay.io/coreos/etcd"
    assert [part.isdigit() for part in tag.split(".")] == [True, True, True]
