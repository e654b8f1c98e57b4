"""Clusters whose owner has turned etcd's authentication on."""

from __future__ import annotations

from tests.box.cluster.conftest import Make
from tests.box.driving import Box

PASSWORD = "correct horse"


def test_without_a_user_for_the_operator_the_status_says_what_is_missing(etcd: Make, box: Box, namespace: str) -> None:
    cluster = etcd(size=3)
    before = cluster.settled()
    cluster.console.secure(PASSWORD)

    state = cluster.until(lambda: told(cluster.condition("Ready")), within=60)
    assert f"kubectl create secret generic demo-root -n {namespace}" in state["message"]
    assert "spec.authSecret" in state["message"]
    assert sorted(cluster.pods) == before

    literals = ("--from-literal=username=root", f"--from-literal=password={PASSWORD}")
    box.kubectl("create", "secret", "generic", "demo-root", "-n", namespace, *literals)
    cluster.change(authSecret="demo-root")
    assert cluster.settled() == before


def told(state: dict[str, str]) -> dict[str, str] | None:
    return state if "authentication is on" in state["message"] else None


def test_with_a_user_everything_works(etcd: Make, box: Box, namespace: str) -> None:
    literals = ("--from-literal=username=root", f"--from-literal=password={PASSWORD}")
    box.kubectl("create", "secret", "generic", "etcd-root", "-n", namespace, *literals)
    cluster = etcd(size=3)
    before = cluster.settled()
    cluster.console.secure(PASSWORD)
    cluster.change(authSecret="etcd-root")
    cluster.settled()
    cluster.put("key", "value")

    cluster.delete_pod(before[0])
    cluster.settled(without=[before[0]])
    cluster.change(size=5)
    cluster.settled()

    assert cluster.get("key") == "value"
