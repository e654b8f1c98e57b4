"""Members that freeze, fill up or find no place harm nobody else."""

from __future__ import annotations

from tests.box.cluster import disks, processes
from tests.box.cluster.clusters import Cluster
from tests.box.cluster.conftest import Make
from tests.box.cluster.versions import V36
from tests.box.driving import Box

LARGE = "x" * 500_000
FULL = {
    "persistentVolumeClaimSpec": {
        "storageClassName": "box-sized",
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "400Mi"}},
    }
}


def test_a_frozen_member_is_told_of_and_nobody_is_removed_for_it(etcd: Make) -> None:
    cluster = etcd(size=3)
    before = cluster.settled()
    frozen = next(name for name in before if name != cluster.leader())

    with processes.frozen(frozen):
        cluster.until(lambda: frozen in (cluster.status["members"].get("unready") or ()), within=60)
        assert cluster.condition("Available")["status"] == "True"
        assert cluster.condition("Degraded")["status"] == "True"
        cluster.change(size=1)  # with one member silent none of the others may go
        cluster.until(lambda: cluster.status["observedGeneration"] == cluster.stored["metadata"]["generation"])
        assert len(cluster.console.members()) >= 2
        cluster.change(size=3)
        cluster.put("key", "value")

    after = cluster.settled()
    assert len(set(before) & set(after)) >= 2
    assert cluster.get("key") == "value"


def test_a_member_whose_disk_is_full_does_not_stop_the_others(etcd: Make, box: Box) -> None:
    cluster = etcd(size=3, pod=FULL)
    before = cluster.settled()
    victim = next(name for name in before if name != cluster.leader())
    node, claim = cluster.node_of(victim), cluster.claims[victim]["spec"]["volumeName"]
    filling = f"/var/{disks.VOLUME.format(name=claim)}/filling"

    for block in ("1M", "4k"):  # it ends when nothing more fits
        box.command("node", "run", node, "--", "dd", "if=/dev/zero", f"of={filling}-{block}", f"bs={block}")
    cluster.console.begin_writing()
    for number in range(80):  # more than what a member has reserved on its disk beforehand
        cluster.put(f"large/{number}", LARGE)
    cluster.until(lambda: "no space left" in message_of(cluster, victim), within=120)
    assert victim in cluster.status["members"]["unready"]
    assert cluster.condition("Available")["status"] == "True"

    box("node", "run", node, "--", "rm", f"{filling}-1M", f"{filling}-4k")
    assert cluster.settled(within=280) == before
    report = cluster.console.end_writing()
    assert report.lost == []


def message_of(cluster: Cluster, member: str) -> str:
    found = next(one for one in cluster.status["memberList"] if one["name"] == member)
    return str(found.get("message") or "")


def test_a_pod_that_finds_no_node_does_not_keep_others_from_being_healed(etcd: Make, box: Box) -> None:
    cluster = etcd(size=3, pod={"nodeSelector": {"kubernetes.io/os": "linux"}})
    before = cluster.settled()
    cluster.change(size=5, pod={"nodeSelector": {"kubernetes.io/os": "plan9"}})
    cluster.until(lambda: any("Unschedulable" in str(pod["status"]) for pod in cluster.pods.values()), within=60)
    assert cluster.condition("Available")["status"] == "True"

    cluster.change(size=3, pod={"nodeSelector": {"kubernetes.io/os": "linux"}})
    assert cluster.settled() == before

    cluster.change(size=4, pod={"nodeSelector": {"kubernetes.io/os": "plan9"}})
    cluster.until(lambda: any("Unschedulable" in str(pod["status"]) for pod in cluster.pods.values()), within=60)
    cluster.delete_pod(before[0], at_once=True)
    cluster.until(lambda: before[0] not in cluster.voters(), within=60)
    assert cluster.condition("Available")["status"] == "True"
    cluster.change(size=3, pod={"nodeSelector": {"kubernetes.io/os": "linux"}})
    cluster.settled(without=[before[0]])


def test_an_image_that_is_nowhere_is_told_of_and_the_next_try_succeeds(etcd: Make) -> None:
    cluster = etcd(size=3, repository="registry.example/nobody/etcd")
    cluster.until(lambda: "ImagePull" in cluster.condition("Ready")["message"], within=60)
    assert cluster.condition("Available")["status"] == "False"

    cluster.change(repository="quay.io/coreos/etcd")

    cluster.settled()


def test_a_version_that_nobody_knows_starts_nothing_and_says_so(etcd: Make) -> None:
    cluster = etcd(size=3, version="9.9.9")
    state = cluster.until(lambda: invalid(cluster.condition("Ready")), within=30)

    assert "9.9" in state["message"]
    assert cluster.pods == {}

    cluster.change(version=V36)
    cluster.settled()


def invalid(state: dict[str, str]) -> dict[str, str] | None:
    return state if state["reason"] == "InvalidSpec" else None
