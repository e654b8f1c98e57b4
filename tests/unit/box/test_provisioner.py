"""The provisioner at work: on an API in miniature, with disks that only remember what they were told."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from box.kube.api import Api, Object
from box.kube.events import event
from box.layout import BoxError
from box.volume.provisioner import Provisioner
from box.volume.seen import CLAIMS, VOLUMES
from tests.unit.box.apiserver import World, serving
from tests.unit.box.test_claims import a_claim

CLAIM = "/api/v1/namespaces/default/persistentvolumeclaims/data"
EVENTS = "/api/v1/namespaces/default/events"
NAME = "pvc-1234"


class Disks:
    """Remembers; fails on nodes that are down."""

    def __init__(self) -> None:
        self.done: list[tuple[str, ...]] = []
        self.down: set[str] = set()
        self.unclaimed: dict[str, str] = {}

    def __call__(self, node: str, *action: str) -> str:
        if node in self.down:
            raise BoxError(f"{node} has no power.")
        self.done.append((node, *action))
        return self.unclaimed.get(node, "") if action == ("unclaimed",) else ""


class Bench:
    """A world with the provisioner before it, step by step instead of by threads."""

    def __init__(self, api: Api, world: World) -> None:
        self.world, self.disks = world, Disks()
        self.provisioner = Provisioner(api, self.disks, say=lambda _: None)
        self.world.put("/apis/storage.k8s.io/v1/storageclasses/box-sized", {"reclaimPolicy": "Delete"})

    def claim(self, claim: Object) -> None:
        self._see(CLAIMS, self.world.put(CLAIM, claim))

    def bind(self) -> None:
        """Do what the controllers of Kubernetes do with a new volume."""
        claim, volume = self.world.objects[CLAIM], self.world.objects[f"{VOLUMES}/{NAME}"]
        capacity = volume["spec"]["capacity"]
        self.claim(
            claim | {"spec": claim["spec"] | {"volumeName": NAME}, "status": {"phase": "Bound", "capacity": capacity}}
        )
        self.volume(volume | {"status": {"phase": "Bound"}})

    def release(self) -> None:
        self.world.remove(CLAIM)
        self.provisioner._seen.drop(CLAIMS, NAME)
        self.volume(self.world.objects[f"{VOLUMES}/{NAME}"] | {"status": {"phase": "Released"}})

    def volume(self, volume: Object) -> None:
        self._see(VOLUMES, self.world.put(f"{VOLUMES}/{NAME}", volume))

    def look(self) -> None:
        self.provisioner.look_at(NAME)

    def reasons(self) -> list[str]:
        return [str(told["reason"]) for told in self.world.below(EVENTS)]

    def _see(self, path: str, obj: Object) -> None:
        self.provisioner._seen.put(path, NAME, obj)


@pytest.fixture
def bench() -> Iterator[Bench]:
    world = World()
    with serving(world) as address, Api(server=address) as api:
        yield Bench(api, world)


def test_a_claim_gets_a_volume_on_the_chosen_node(bench: Bench) -> None:
    bench.claim(a_claim(node="w2"))
    bench.look()

    assert bench.disks.done == [("w2", "make", NAME, "--size", str(64 << 20)), ("w2", "settle", NAME)]
    assert bench.world.objects[f"{VOLUMES}/{NAME}"]["spec"]["claimRef"]["uid"] == "1234"
    assert bench.reasons() == ["ProvisioningSucceeded"]


def test_a_provisioner_killed_before_it_told_kubernetes_goes_on(bench: Bench) -> None:
    bench.claim(a_claim())
    bench.look()
    fresh = Bench(bench.provisioner._api, bench.world)
    fresh.claim(a_claim())
    fresh.look()

    assert ("w1", "settle", NAME) in fresh.disks.done
    assert len(fresh.world.below(VOLUMES)) == 1


def test_if_the_node_is_down_the_scheduler_chooses_again(bench: Bench) -> None:
    bench.disks.down = {"w1"}
    bench.claim(a_claim())
    bench.look()

    annotations = bench.world.objects[CLAIM]["metadata"]["annotations"]
    assert "volume.kubernetes.io/selected-node" not in annotations
    assert bench.reasons() == ["ProvisioningFailed"]
    assert bench.world.below(VOLUMES) == []


def test_the_same_event_again_is_counted(bench: Bench) -> None:
    bench.claim(a_claim(size="1Mi"))
    bench.look()
    bench.look()

    assert [told["count"] for told in bench.world.below(EVENTS)] == [2]


def test_a_claim_that_asks_for_more_gets_it(bench: Bench) -> None:
    bench.claim(a_claim())
    bench.look()
    bench.bind()
    claim = bench.world.objects[CLAIM]
    bench.claim(claim | {"spec": claim["spec"] | {"resources": {"requests": {"storage": "1Gi"}}}})
    bench.look()

    assert ("w1", "grow", NAME, "--size", str(1 << 30)) in bench.disks.done
    assert bench.world.objects[f"{VOLUMES}/{NAME}"]["spec"]["capacity"] == {"storage": "1Gi"}
    assert bench.world.objects[CLAIM]["status"]["capacity"] == {"storage": "1Gi"}
    assert "VolumeResizeSuccessful" in bench.reasons()


def test_growth_on_a_node_that_is_down_is_told_and_tried_again(bench: Bench) -> None:
    bench.claim(a_claim())
    bench.look()
    bench.bind()
    claim = bench.world.objects[CLAIM]
    bench.claim(claim | {"spec": claim["spec"] | {"resources": {"requests": {"storage": "1Gi"}}}})
    bench.disks.down = {"w1"}

    with pytest.raises(BoxError, match="no power"):
        bench.look()

    assert "VolumeResizeFailed" in bench.reasons()
    assert bench.world.objects[CLAIM]["status"]["capacity"] == {"storage": "64Mi"}


def test_a_released_volume_goes_with_its_data(bench: Bench) -> None:
    bench.claim(a_claim())
    bench.look()
    bench.bind()
    bench.release()
    bench.look()

    assert bench.disks.done[-1] == ("w1", "remove", NAME)
    assert bench.world.below(VOLUMES) == []


def test_what_is_still_heard_of_a_removed_volume_changes_nothing(bench: Bench) -> None:
    bench.claim(a_claim())
    bench.look()
    bench.bind()
    bench.release()
    dying = bench.world.objects[f"{VOLUMES}/{NAME}"]
    bench.look()
    bench.provisioner._seen.put(VOLUMES, NAME, dying)
    bench.look()
    bench.provisioner._seen.put(VOLUMES, NAME, dying)
    bench.provisioner._seen.drop(VOLUMES, NAME)
    bench.look()

    assert bench.disks.done.count(("w1", "remove", NAME)) == 1


def test_a_volume_is_looked_at_afresh_before_its_data_goes(bench: Bench) -> None:
    bench.claim(a_claim())
    bench.look()
    bench.bind()
    bench.release()
    volume = bench.world.objects[f"{VOLUMES}/{NAME}"]
    bench.world.put(f"{VOLUMES}/{NAME}", volume | {"status": {"phase": "Bound"}})
    bench.look()

    assert ("w1", "remove", NAME) not in bench.disks.done


def test_a_volume_on_a_node_that_is_down_waits_for_it(bench: Bench) -> None:
    bench.world.put("/api/v1/nodes/w1", {"kind": "Node"})
    bench.claim(a_claim())
    bench.look()
    bench.bind()
    bench.release()
    bench.disks.down = {"w1"}

    with pytest.raises(BoxError, match="no power"):
        bench.look()

    assert "VolumeFailedDelete" in bench.reasons()
    assert len(bench.world.below(VOLUMES)) == 1


def test_a_volume_whose_node_is_gone_for_good_is_forgotten(bench: Bench) -> None:
    bench.claim(a_claim())
    bench.look()
    bench.bind()
    bench.release()
    bench.disks.down = {"w1"}
    bench.look()

    assert bench.world.below(VOLUMES) == []


def test_data_of_a_volume_that_was_deleted_by_hand_goes_too(bench: Bench) -> None:
    bench.claim(a_claim())
    bench.look()
    bench.bind()
    bench.release()
    bench.world.remove(f"{VOLUMES}/{NAME}")
    bench.provisioner._seen.drop(VOLUMES, NAME)
    bench.look()
    bench.look()

    assert bench.disks.done.count(("w1", "remove", NAME)) == 1


def test_what_a_killed_provisioner_left_behind_is_swept(bench: Bench) -> None:
    bench.world.put("/api/v1/nodes/w1", {"metadata": {"name": "w1"}})
    bench.claim(a_claim())
    bench.look()
    bench.disks.done.clear()
    bench.disks.unclaimed = {"w1": f"pvc-of-nobody\n{NAME}\n", "w2": NAME}

    bench.provisioner._sweep_node("w1")
    bench.provisioner._sweep_node("w2")

    assert ("w1", "remove", "pvc-of-nobody") in bench.disks.done
    assert ("w1", "settle", NAME) in bench.disks.done
    assert ("w2", "remove", NAME) in bench.disks.done, "it was made elsewhere in the end"


def test_an_event_is_about_its_object() -> None:
    told = event(a_claim(), "Reason", "Words.", warning=True, now=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC))

    assert told["involvedObject"]["uid"] == "1234"
    assert told["metadata"]["namespace"] == "default"
    assert told["type"] == "Warning"
    assert told["lastTimestamp"] == "2026-01-02T03:04:05Z"
