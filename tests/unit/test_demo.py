"""The demo's manners towards a cluster that is not its own, and what its scenes rely on."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import pytest

from box.image.images import RECIPES
from box.layout import REPOSITORY
from dev.demo import images
from dev.scenes import EXAMPLE, NAME, NEWER, is_ready
from dev.target import MARK, NAMESPACE, DemoError, Target, consent, must_be_ours, own_cluster


def a_cluster(tmp_path: Path, *, namespace: str = "", answers: bool = True) -> Target:
    """A kubectl that knows one context and, perhaps, the demo's namespace; it writes down what it is asked."""
    program = tmp_path / "kubectl"
    program.write_text(
        "#!/bin/sh\n"
        f'printf "%s\\n" "$*" >> {tmp_path}/asked\n'
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


def test_only_definitions_are_outside_of_the_demos_namespace_on_a_cluster_of_somebody_else() -> None:
    kinds = re.findall(r"^kind: (\w+)$", (REPOSITORY / "deploy" / "install-namespaced.yaml").read_text(), re.MULTILINE)

    assert {"Deployment", "Role"} <= set(kinds)
    assert not {"Namespace", "ClusterRole", "ClusterRoleBinding", "CustomResourceDefinition"} & set(kinds)


def test_a_command_is_shown_as_it_would_be_typed(tmp_path: Path) -> None:
    target = a_cluster(tmp_path).within(NAMESPACE)

    assert target.spelt("patch", "etcd", "-p", '{"spec": {}}') == (
        f"kubectl -n {NAMESPACE} patch etcd -p '{{\"spec\": {{}}}}'"
    )
    target.show("get", "etcd")
    assert (tmp_path / "asked").read_text() == f"-n {NAMESPACE} get etcd\n"


def a_status(*, ready: str = "True", observed: int = 2) -> dict[str, Any]:
    condition = {"type": "Ready", "status": ready, "observedGeneration": observed}
    status = {"conditions": [condition], "members": {"ready": ["a", "b"]}}
    return {"metadata": {"generation": 2}, "status": status}


@pytest.mark.parametrize(
    ("cluster", "lost", "reached"),
    [
        (a_status(), "", True),
        (a_status(), "a", False),
        (a_status(), "c", True),
        (a_status(ready="False"), "", False),
        (a_status(observed=1), "", False),
        ({}, "", False),
    ],
)
def test_a_scene_goes_on_when_the_present_spec_is_reached_without_the_lost_member(
    cluster: dict[str, Any], lost: str, reached: bool
) -> None:
    assert is_ready(cluster, without=lost) is reached


def test_the_images_are_those_that_the_box_builds() -> None:
    known = {name for recipe in RECIPES for name in recipe.names}

    assert set(images()) <= known


def test_the_example_that_it_applies_can_go_to_the_version_it_is_upgraded_to() -> None:
    text = (REPOSITORY / EXAMPLE).read_text()

    (version,) = re.findall(r'^  version: "(.+)"$', text, re.MULTILINE)
    assert f"quay.io/coreos/etcd:v{version}" in images()
    assert f"quay.io/coreos/etcd:v{NEWER}" in images()
    assert f'name: "{NAME}"' in text
