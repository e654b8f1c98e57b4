"""The programs of a box are told what they need, and nothing that would reach the host."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from box.kube import components
from box.kube.components import Programs, Service
from box.layout import Layout
from box.settings import Settings

LAYOUT = Layout(Path("/cache/box"), "mine")
PROGRAMS = Programs(kubernetes=Path("/tools/kubernetes"), etcd=Path("/tools/etcd"))


def by_name(services: tuple[Service, ...]) -> dict[str, Service]:
    return {service.name: service for service in services}


def test_a_control_plane_waits_for_what_it_stands_on() -> None:
    services = by_name(components.control_plane(LAYOUT, Settings(), PROGRAMS))

    assert services["apiserver"].after == "tcp:127.0.0.1:2379"
    assert services["controller-manager"].after == services["scheduler"].after == "https://127.0.0.1:6443/readyz"


@pytest.mark.parametrize("seconds", [300, 5])
def test_pods_tolerate_a_lost_node_as_long_as_was_asked(seconds: int) -> None:
    services = by_name(components.control_plane(LAYOUT, Settings(tolerate=seconds), PROGRAMS))

    argv = services["apiserver"].argv
    assert f"--default-not-ready-toleration-seconds={seconds}" in argv
    assert f"--default-unreachable-toleration-seconds={seconds}" in argv


def test_a_worker_runs_its_three_programs_from_its_own_files() -> None:
    services = by_name(components.worker(LAYOUT, "w2", PROGRAMS))
    files = components.worker_files(LAYOUT, "w2")

    assert list(services) == ["containerd", "kubelet", "proxy"]
    for service, file in (("containerd", "containerd.toml"), ("kubelet", "kubelet.json"), ("proxy", "kube-proxy.json")):
        assert any(f"/cache/box/boxes/mine/nodes/w2/{file}" in word for word in services[service].argv)
        assert file in files


def test_the_kubelet_keeps_to_its_own_cgroup_and_leaves_connection_tracking_alone() -> None:
    files = components.worker_files(LAYOUT, "w2")
    kubelet, proxy = json.loads(files["kubelet.json"]), json.loads(files["kube-proxy.json"])

    assert kubelet["cgroupRoot"] == f"{LAYOUT.cgroup}/w2"
    assert set(proxy["conntrack"].values()) == {0, "0s"}


def test_each_worker_gives_out_addresses_of_its_own_range() -> None:
    ranges = [
        json.loads(components.worker_files(LAYOUT, name)["cni/10-box.conflist"])["plugins"][0]["ipam"]["ranges"]
        for name in ("w1", "w2")
    ]

    assert ranges == [[[{"subnet": "198.19.1.0/24"}]], [[{"subnet": "198.19.2.0/24"}]]]
