"""Images are there under the names users know, can be loaded, and the operator's own is as small as it claims."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from box.image import images
from box.image.archive import Settings, Text, write_archive
from etcd_operator import __version__
from tests.box.driving import Box, CommandFailedError, eventually

Object = dict[str, Any]

RESTRICTED = {
    "runAsNonRoot": True,
    "readOnlyRootFilesystem": True,
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "seccompProfile": {"type": "RuntimeDefault"},
}


def once(name: str, namespace: str, *, image: str, command: list[str]) -> Object:
    container = {"name": "main", "image": image, "imagePullPolicy": "IfNotPresent", "securityContext": RESTRICTED}
    if command:
        container["command"] = command
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"restartPolicy": "Never", "containers": [container]},
    }


def result(box: Box, namespace: str, name: str) -> tuple[int, str]:
    """How the pod ended, and what it said."""

    def ended() -> Object | None:
        statuses = box.get("pod", name, namespace)["status"].get("containerStatuses", [{}])
        terminated: Object | None = statuses[0].get("state", {}).get("terminated")
        return terminated

    state = eventually(ended, within=60)
    assert state is not None
    return int(state["exitCode"]), box.kubectl("logs", "-n", namespace, name)


def test_the_operator_starts_without_root_on_a_read_only_file_system(box: Box, namespace: str) -> None:
    box.apply(once("operator", namespace, image="etcd-operator:dev", command=["etcd-operator", "--version"]))

    code, said = result(box, namespace, "operator")

    assert code == 0, said
    assert __version__ in said


WHO_AM_I = """
import asyncio, importlib, pkgutil, etcd_operator
from etcd_operator.kube.client import Client
from etcd_operator.kube.resources import Resource
from etcd_operator.kube.surroundings import find, user_agent

for module in pkgutil.walk_packages(etcd_operator.__path__, "etcd_operator."):
    importlib.import_module(module.name)

async def ask():
    reviews = Resource("authentication.k8s.io", "v1", "selfsubjectreviews", "SelfSubjectReview", namespaced=False)
    async with Client(find(), user_agent=user_agent("test")) as client:
        review = await client.create(reviews, {"metadata": {}})
        print("I am", review["status"]["userInfo"]["username"])

asyncio.run(ask())
"""


def test_in_the_image_every_module_loads_and_the_pods_own_account_logs_in(box: Box, namespace: str) -> None:
    box.apply(once("asking", namespace, image="etcd-operator:dev", command=["python3", "-c", WHO_AM_I]))

    code, said = result(box, namespace, "asking")

    assert code == 0, said
    assert f"I am system:serviceaccount:{namespace}:default" in said


def test_the_operator_image_has_no_shell(box: Box, namespace: str) -> None:
    for number, shell in enumerate(("/bin/sh", "/bin/bash", "/usr/bin/dash", "/bin/busybox")):
        box.apply(once(f"shell-{number}", namespace, image="etcd-operator:dev", command=[shell, "-c", "true"]))
    for number in range(4):
        code, _ = result(box, namespace, f"shell-{number}")
        assert code != 0
        state = box.get("pod", f"shell-{number}", namespace)["status"]["containerStatuses"][0]["state"]
        assert state["terminated"]["reason"] == "StartError"


def test_an_image_of_ones_own_is_loaded_into_running_nodes(box: Box, namespace: str, tmp_path: Path) -> None:
    archive = tmp_path / "own.tar"
    write_archive(
        archive,
        names=["example.com/own:1"],
        layers=[[Text("greeting", "hello\n")]],
        settings=Settings(command=("/none",)),
    )

    before = set(box.layout.images.iterdir())
    box("image", "load", str(archive))
    try:
        assert "example.com/own:1" in box("image", "list")
        nodes = ("w1", "w2", "w3")
        listed = [box("node", "run", node, "--", "ctr", "-n", "k8s.io", "images", "ls", "-q") for node in nodes]
        assert all("example.com/own:1" in names for names in listed)
    finally:
        for file in set(box.layout.images.iterdir()) - before:
            file.unlink()


def test_a_file_that_is_no_image_is_refused_with_a_sentence(box: Box, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.tar"
    wrong.write_bytes(b"not an archive")

    failed = box.command("image", "load", str(wrong))

    assert failed.returncode == 1
    assert "wrong.tar" in failed.stderr
    assert "Traceback" not in failed.stderr


def test_every_image_is_listed_under_its_known_names(box: Box) -> None:
    listed = box("image", "list")

    for recipe in images.RECIPES:
        for name in recipe.names:
            assert name in listed


def test_a_missing_image_is_told_by_kubernetes_as_anywhere(box: Box, namespace: str) -> None:
    box.apply(once("missing", namespace, image="example.com/not/there:1", command=[]))

    def reason() -> str:
        statuses = box.get("pod", "missing", namespace)["status"].get("containerStatuses", [{}])
        return str(statuses[0].get("state", {}).get("waiting", {}).get("reason", ""))

    assert eventually(lambda: reason() in ("ErrImagePull", "ImagePullBackOff"), within=60)


def test_the_kubelet_reports_what_a_container_cost_when_it_was_killed_for_memory(box: Box, namespace: str) -> None:
    greedy = once("greedy", namespace, image="busybox", command=["sh", "-c", "tail /dev/zero"])
    greedy["spec"]["containers"][0] |= {"resources": {"limits": {"memory": "16Mi"}}}
    greedy["spec"]["containers"][0]["securityContext"] = {}
    box.apply(greedy)

    try:
        code, _ = result(box, namespace, "greedy")
    except CommandFailedError:
        code = 137
    state = json.loads(box.kubectl("get", "pod", "greedy", "-n", namespace, "-o", "json"))["status"]
    assert code == 137
    assert state["containerStatuses"][0]["state"]["terminated"]["reason"] == "OOMKilled"
