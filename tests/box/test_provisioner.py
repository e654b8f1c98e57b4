"""The provisioner under adversity: killed, its node without power, its volumes deleted by others."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from box import cgroups
from box.layout import REPOSITORY
from box.volume.claims import SELECTED_NODE
from box.volume.seen import VOLUMES
from tests.box.driving import Box, Object, eventually
from tests.box.pods import wait_node
from tests.box.test_volumes import claim, user_of

STORAGE_CLASSES = "/apis/storage.k8s.io/v1/storageclasses"


class Bench:
    """Claims in one namespace, for which the node is chosen by the test, where else the scheduler does it."""

    def __init__(self, box: Box, namespace: str) -> None:
        self.box, self.namespace = box, namespace
        self.claims = f"/api/v1/namespaces/{namespace}/persistentvolumeclaims"

    def claim(self, name: str, *, node: str, size: str = "16Mi", storage_class: str = "box-sized") -> str:
        """Makes a claim and returns its volume's name."""
        wanted = claim(name, self.namespace, size=size, storage_class=storage_class)
        wanted["metadata"]["annotations"] = {SELECTED_NODE: node}
        return f"pvc-{self.box.api.create(self.claims, wanted)['metadata']['uid']}"

    def bound(self, name: str) -> bool:
        return bool(self.box.api.get(f"{self.claims}/{name}")["status"]["phase"] == "Bound")

    def delete(self, name: str) -> None:
        self.box.api.delete(f"{self.claims}/{name}")

    def volumes(self) -> dict[str, Object]:
        return {volume["metadata"]["name"]: volume for volume in self.box.api.list(VOLUMES)}

    def phase(self, volume: str) -> str:
        return str(self.volumes()[volume]["status"]["phase"])

    def told(self, name: str, reason: str) -> list[Object]:
        """The events of one reason about a claim or a volume; those of a volume, without a namespace, are elsewhere."""
        found = self.box.api.list("/api/v1/events", fields=f"involvedObject.name={name},reason={reason}")
        return [told for told in found if told["involvedObject"].get("namespace", self.namespace) == self.namespace]

    def disk(self, node: str) -> set[str]:
        """What is on a node's disk, also while it has no power."""
        folder = self.box.layout.node(node) / "var/box/volumes"
        return {file.name for file in folder.iterdir()} if folder.exists() else set()

    def disks(self, *nodes: str) -> list[set[str]]:
        return [self.disk(node) for node in nodes]

    def file_of(self, volume: str, node: str) -> Path:
        """A file in a volume that is a plain directory."""
        return self.box.layout.node(node) / "var/box/volumes" / volume / "file"


@pytest.fixture
def bench(box: Box, namespace: str) -> Bench:
    return Bench(box, namespace)


@contextmanager
def without_power(box: Box, node: str) -> Iterator[None]:
    box("node", "kill", node)
    try:
        yield
    finally:
        last = heartbeat(box, node)
        box("node", "start", node)
        eventually(lambda: heartbeat(box, node) != last, within=60)
        wait_node(box, node, ready=True)


def heartbeat(box: Box, node: str) -> str:
    """When a node was last heard of: one that was away for a moment only is called ready all the time."""
    lease = box.api.get(f"/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/{node}")
    return str(lease["spec"]["renewTime"])


@contextmanager
def paused(box: Box) -> Iterator[None]:
    box("pause", "provisioner")
    try:
        yield
    finally:
        box("resume", "provisioner")


def kill_when(box: Box, moment: Callable[[], bool]) -> None:
    """Kills the provisioner, as soon as it runs and the moment has come."""
    running = eventually(lambda: provisioner(box), within=10, pause=0.01)
    eventually(moment, within=10, pause=0.001)
    os.kill(running, signal.SIGKILL)


def provisioner(box: Box) -> int:
    """Its process, while it runs."""
    for pid in cgroups.processes(box.layout.cgroup):
        try:
            if b"box.volume.provisioner" in Path(f"/proc/{pid}/cmdline").read_bytes():
                return pid
        except OSError:
            continue
    raise AssertionError("the provisioner is not running")


def test_killed_at_work_it_loses_and_leaves_nothing(box: Box, bench: Bench) -> None:
    nodes = ("w1", "w2")
    before = bench.disks(*nodes)
    volumes = [bench.claim(f"data-{number}", node=nodes[number % 2]) for number in range(8)]

    kill_when(box, lambda: any(name.endswith(".new") for disk in bench.disks(*nodes) for name in disk))
    bench.delete("data-6")
    bench.delete("data-7")
    kill_when(box, lambda: not set(volumes).isdisjoint(bench.volumes()))

    eventually(lambda: all(bench.bound(f"data-{number}") for number in range(6)), within=30)
    first, second = ({file for name in volumes[start:6:2] for file in (name, f"{name}.img")} for start in (0, 1))
    eventually(lambda: bench.disks(*nodes) == [before[0] | first, before[1] | second], within=30)

    for number in range(6):
        bench.delete(f"data-{number}")
    eventually(lambda: bench.disks(*nodes) == before, within=30)
    eventually(lambda: set(volumes).isdisjoint(bench.volumes()), within=30)


def test_what_a_killed_provisioner_began_for_a_claim_that_is_gone_is_swept(box: Box, bench: Bench) -> None:
    make = ("env", f"PYTHONPATH={REPOSITORY}", sys.executable, "-m", "box.volume.volumes", "make", "pvc-of-nobody")
    box("node", "run", "w2", "--", *make)
    assert "pvc-of-nobody" in bench.disk("w2")

    box("restart", "provisioner")

    eventually(lambda: not any("nobody" in name for name in bench.disk("w2")), within=20)


def test_a_volume_is_kept_as_long_as_its_policy_says_so(box: Box, bench: Bench) -> None:
    kept: Object = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": bench.namespace},
        "provisioner": "box.local/directory",
        "volumeBindingMode": "WaitForFirstConsumer",
        "reclaimPolicy": "Retain",
    }
    box.api.create(STORAGE_CLASSES, kept)
    try:
        volume = bench.claim("data", node="w1", storage_class=bench.namespace)
        eventually(lambda: bench.bound("data"), within=20)
        bench.file_of(volume, "w1").write_text("kept")
        later = bench.claim("later", node="w1", storage_class="box-local")
        eventually(lambda: bench.bound("later"), within=20)

        bench.delete("data")
        eventually(lambda: bench.phase(volume) == "Released", within=20)
        bench.delete("later")
        eventually(lambda: later not in bench.disk("w1"), within=20)
        assert bench.file_of(volume, "w1").read_text() == "kept"

        box.api.patch(f"{VOLUMES}/{volume}", {"spec": {"persistentVolumeReclaimPolicy": "Delete"}})
        eventually(lambda: volume not in bench.disk("w1") and volume not in bench.volumes(), within=20)
    finally:
        box.api.delete(f"{STORAGE_CLASSES}/{bench.namespace}")


def test_a_volume_that_is_deleted_while_it_is_claimed_goes_with_its_claim(box: Box, bench: Bench) -> None:
    volume = bench.claim("data", node="w1")
    eventually(lambda: bench.bound("data"), within=20)

    box.api.delete(f"{VOLUMES}/{volume}")
    assert bench.volumes()[volume]["metadata"]["deletionTimestamp"], "Kubernetes protects what is claimed"
    assert volume in bench.disk("w1")

    bench.delete("data")
    eventually(lambda: volume not in bench.volumes(), within=20)
    eventually(lambda: not any(volume in name for name in bench.disk("w1")), within=20)


def test_a_volume_that_somebody_else_deletes_first_takes_its_data_along(box: Box, bench: Bench) -> None:
    volume = bench.claim("data", node="w1")
    eventually(lambda: bench.bound("data"), within=20)

    with paused(box):
        bench.delete("data")
        eventually(lambda: bench.phase(volume) == "Released", within=20)
        box.api.delete(f"{VOLUMES}/{volume}")
        eventually(lambda: volume not in bench.volumes(), within=20)
        assert volume in bench.disk("w1")

    eventually(lambda: not any(volume in name for name in bench.disk("w1")), within=20)


def test_a_volume_that_was_given_to_another_claim_meanwhile_keeps_its_data(box: Box, bench: Bench) -> None:
    volume = bench.claim("first", node="w1", storage_class="box-local")
    eventually(lambda: bench.bound("first"), within=20)
    bench.file_of(volume, "w1").write_text("kept")

    with paused(box):
        bench.delete("first")
        eventually(lambda: bench.phase(volume) == "Released", within=20)
        box.api.patch(f"{VOLUMES}/{volume}", {"spec": {"claimRef": None}})
        second = claim("second", bench.namespace, size="16Mi", storage_class="box-local")
        second["spec"]["volumeName"] = volume
        box.api.create(bench.claims, second)
        eventually(lambda: bench.bound("second"), within=20)
    bench.claim("third", node="w1", storage_class="box-local")
    eventually(lambda: bench.bound("third"), within=20)

    assert bench.file_of(volume, "w1").read_text() == "kept"
    assert bench.phase(volume) == "Bound"


def test_a_deletion_waits_for_a_node_without_power(box: Box, bench: Bench) -> None:
    volume = bench.claim("data", node="w3")
    eventually(lambda: bench.bound("data"), within=20)

    with without_power(box, "w3"):
        bench.delete("data")
        told = eventually(lambda: bench.told(volume, "VolumeFailedDelete"), within=20)
        assert "w3 has no power" in told[0]["message"]
        assert bench.phase(volume) == "Released"
        assert volume in bench.disk("w3")

    eventually(lambda: volume not in bench.volumes(), within=30)
    assert not any(volume in name for name in bench.disk("w3"))


def test_a_claim_whose_node_lost_power_gets_its_volume_on_another(box: Box, bench: Bench) -> None:
    with without_power(box, "w3"):
        volume = bench.claim("data", node="w3")
        user = user_of("user", bench.namespace, of="data")
        # Until Kubernetes calls w3 not ready, the scheduler could choose it again and again, as it is the emptiest.
        user["spec"]["nodeSelector"] = {"kubernetes.io/hostname": "w1"}
        box.apply(user)
        eventually(lambda: bench.bound("data"), within=30)

        told = bench.told("data", "ProvisioningFailed")
        assert "w3 has no power" in told[0]["message"]
        assert volume in bench.disk("w1")
        assert volume not in bench.disk("w3")


def test_a_volume_whose_node_is_gone_for_good_is_forgotten(box: Box, bench: Bench) -> None:
    volume = bench.claim("data", node="w1", storage_class="box-local")
    eventually(lambda: bench.bound("data"), within=20)
    orphan = box.api.get(f"{VOLUMES}/{volume}")
    orphan["metadata"] = {"name": f"{volume}-orphan", "annotations": orphan["metadata"]["annotations"]}
    orphan["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"][0]["matchExpressions"][0]["values"] = ["w9"]
    orphan["spec"]["claimRef"] |= {"name": "gone", "uid": "gone", "resourceVersion": ""}

    box.api.create(VOLUMES, orphan)

    eventually(lambda: f"{volume}-orphan" not in bench.volumes(), within=20)
    assert bench.bound("data")


def test_the_same_complaint_again_is_counted(box: Box, bench: Bench) -> None:
    bench.claim("tiny", node="w1", size="1Mi")
    eventually(lambda: bench.told("tiny", "ProvisioningFailed"), within=20)

    box.api.patch(f"{bench.claims}/tiny", {"metadata": {"labels": {"looked-at": "again"}}})

    told = eventually(lambda: [e for e in bench.told("tiny", "ProvisioningFailed") if e["count"] > 1], within=20)
    assert len(told) == 1
    assert "at least 16Mi" in told[0]["message"]
