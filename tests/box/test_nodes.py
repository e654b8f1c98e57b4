"""Each node command does what it says, seen from Kubernetes."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator

import pytest

from tests.box.driving import Box, eventually
from tests.box.pods import fetch, node_ready, pod, reaches, wait_node, wait_ready, web


@pytest.fixture
def w3(box: Box) -> Iterator[str]:
    """A node to be hurt; whole again afterwards."""
    yield "w3"
    told = box("status")
    if "w3   off" in told:
        box("node", "start", "w3")
    if "cable pulled" in told:
        box("node", "join", "w3")
    wait_node(box, "w3", ready=True)


def test_power_failure_and_return(box: Box, namespace: str, w3: str) -> None:
    box.apply(web("near", namespace, node="w1"), web("far", namespace, node=w3))
    far = wait_ready(box, namespace, "near", "far")["far"]

    box("node", "kill", w3)
    assert not reaches(box, namespace, "near", f"http://{far}:8080")
    assert "w3   off" in box("status")
    wait_node(box, w3, ready=False)
    eventually(lambda: "deletionTimestamp" in box.get("pod", "far", namespace)["metadata"], within=60)

    box("node", "start", w3)
    wait_node(box, w3, ready=True)
    eventually(lambda: "far" not in box.kubectl("get", "pods", "-n", namespace, "-o", "name"), within=60)
    box.apply(web("again", namespace, node=w3))
    wait_ready(box, namespace, "again")


def test_a_clean_shutdown_lets_programs_end(box: Box, namespace: str, w3: str) -> None:
    volume = {"name": "note", "hostPath": {"path": "/var/note", "type": "DirectoryOrCreate"}}
    script = "trap 'echo ended > /note/word; exit 0' TERM; rm -f /note/word; while :; do sleep 0.2; done"
    polite = pod(
        "polite",
        namespace,
        command=["sh", "-c", script],
        node=w3,
        volumes=[volume],
        mounts=[{"name": "note", "mountPath": "/note"}],
    )
    box.apply(polite)
    wait_ready(box, namespace, "polite")

    box("node", "stop", w3)
    assert (box.layout.node(w3) / "var/note/word").read_text() == "ended\n"
    wait_node(box, w3, ready=False)

    box("node", "start", w3)
    wait_node(box, w3, ready=True)


def test_a_pulled_cable_and_its_return(box: Box, namespace: str, w3: str) -> None:
    box.apply(web("near", namespace, node="w1"), web("far", namespace, node=w3))
    far = wait_ready(box, namespace, "near", "far")["far"]

    box("node", "cut", w3)
    assert not reaches(box, namespace, "near", f"http://{far}:8080")
    wait_node(box, w3, ready=False)

    box("node", "join", w3)
    wait_node(box, w3, ready=True)
    assert eventually(lambda: reaches(box, namespace, "near", f"http://{far}:8080"), within=30)


def test_a_control_plane_without_power_leaves_pods_running(box: Box, namespace: str) -> None:
    box.apply(web("one", namespace, node="w1"), web("two", namespace, node="w2"))
    two = wait_ready(box, namespace, "one", "two")["two"]

    address = hardware_address(box, "cp")

    box("node", "kill", "cp")
    assert not box.api.ready()
    assert box.inside(lambda: page(f"http://{two}:8080")) == "two"

    box("node", "start", "cp")
    assert hardware_address(box, "cp") == address, "its neighbours remember it"
    eventually(box.api.ready, within=60)
    assert eventually(lambda: fetch(box, namespace, "one", f"http://{two}:8080"), within=30) == "two"
    restarts = box.get("pod", "two", namespace)["status"]["containerStatuses"][0]["restartCount"]
    assert restarts == 0


def hardware_address(box: Box, node: str) -> str:
    return box("node", "run", node, "--", "ip", "-o", "link", "show", "eth0").split("link/ether ")[1].split()[0]


def page(url: str) -> str:
    with urllib.request.urlopen(url, timeout=5) as answer:
        return str(answer.read().decode().strip())


def test_a_drain_respects_a_disruption_budget(box: Box, namespace: str) -> None:
    labels = {"app": "guarded"}
    budget = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "guarded", "namespace": namespace},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": labels}},
    }
    box.apply(
        budget,
        web("a", namespace, node="w1", labels=labels),
        web("b", namespace, node="w2", labels=labels),
    )
    wait_ready(box, namespace, "a", "b")
    drain = ("--ignore-daemonsets", "--force", "--delete-emptydir-data", f"--pod-selector=app={labels['app']}")
    try:
        eventually(lambda: box.get("pdb", "guarded", namespace)["status"].get("disruptionsAllowed") == 1)
        box.kubectl("drain", "w1", *drain, "--timeout=30s")

        held = box.command("kubectl", "drain", "w2", *drain, "--timeout=8s")

        assert held.returncode != 0
        assert "disruption budget" in held.stderr
        assert box.kubectl("get", "pods", "-n", namespace, "-o", "name").split() == ["pod/b"]
    finally:
        box.kubectl("uncordon", "w1", "w2")


def test_nodes_that_are_not_there_are_named(box: Box) -> None:
    failed = box.command("node", "kill", "w7")

    assert failed.returncode == 1
    assert "there are: cp, w1, w2, w3" in failed.stderr
    assert node_ready(box, "w1")


def test_pods_leave_a_lost_node_after_the_time_that_up_was_given(box: Box, namespace: str) -> None:
    box.apply(pod("plain", namespace, command=["sleep", "1000"]))

    tolerations = json.loads(box.kubectl("get", "pod", "plain", "-n", namespace, "-o", "json"))["spec"]["tolerations"]

    assert {entry["tolerationSeconds"] for entry in tolerations} == {5}
