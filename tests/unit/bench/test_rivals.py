"""The pods that clusters are measured against: the same as a member's, and yet without an operator."""

from __future__ import annotations

import json

from bench import rivals
from etcd_operator.kube.objects import Manifest
from etcd_operator.member import settings
from etcd_operator.member.settings import State


def template() -> Manifest:
    made: Manifest = rivals.stateful_set(version="3.6.16", namespace="bench")["spec"]["template"]["spec"]
    return made


def told(container: Manifest, pod: str) -> dict[str, str]:
    """Its variables as the kubelet gives them to one pod."""
    plain = {entry["name"]: entry["value"] for entry in container["env"] if "value" in entry}
    return {name: value.replace("$(pod)", pod) for name, value in plain.items()}


def test_each_of_the_three_is_told_who_it_is_and_who_all_are() -> None:
    [guard] = template()["initContainers"]

    for number in range(rivals.SIZE):
        found = settings.read(told(guard, f"rival-{number}"))

        assert found.state is State.NEW
        assert sorted(found.initial_cluster) == ["rival-0", "rival-1", "rival-2"]
        assert found.host == f"rival-{number}.rival.bench.svc"
        assert found.own_urls == {f"http://{found.host}:2380"}


def test_etcd_is_told_the_same_as_its_init_step() -> None:
    [guard], [etcd] = template()["initContainers"], template()["containers"]
    flags = dict(flag.split("=", 1) for flag in etcd["command"][1:])

    assert flags["--initial-cluster"] == told(guard, "rival-0")["INITIAL_CLUSTER"]
    assert flags["--name"] == "$(pod)"


def test_nobody_waits_for_an_operator() -> None:
    assert "readinessGates" not in template()
    assert "readinessGates" not in rivals.bare_pod("bare", version="3.6.16", namespace="bench")["spec"]


def test_a_bare_pod_has_nothing_before_etcd() -> None:
    pod = rivals.bare_pod("bare", version="3.6.16", namespace="bench")

    assert "initContainers" not in pod["spec"]
    assert "check-dns" not in json.dumps(pod)
