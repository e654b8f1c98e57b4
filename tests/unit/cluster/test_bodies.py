from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from etcd_operator.api.cluster_names import IDENTITY, JOINS, POD_POLICY, SERVING, VERSION
from etcd_operator.cluster.bodies import body_of
from etcd_operator.cluster.identity import written
from etcd_operator.plan.refusal import Refusal
from etcd_operator.plan.view import Identity, Stage
from etcd_operator.releases.version import Version
from tests.unit.cluster.clusters import CLAIM, a_cluster, a_joiner, pod_of
from tests.unit.cluster.pods import COMPLETED, CRASH_LOOP, NOT_YET, RUNNING, a_pod, ended

DISK_LOST = '{"reason": "DiskLost", "message": "The disk is empty."}'


@pytest.mark.parametrize(
    ("reported", "stage"),
    [
        ({"node": ""}, Stage.PENDING),
        ({}, Stage.PREPARING),
        ({"guard": {"waiting": {"reason": "ContainerCreating"}}, "etcd": NOT_YET}, Stage.PREPARING),
        ({"guard": RUNNING, "etcd": NOT_YET}, Stage.GUARDED),
        ({"guard": {"state": CRASH_LOOP, "lastState": ended()}, "etcd": NOT_YET}, Stage.GUARDED),
        ({"guard": COMPLETED, "etcd": NOT_YET}, Stage.GUARDED),
        ({"guard": COMPLETED, "etcd": RUNNING}, Stage.STARTED),
        ({"guard": COMPLETED, "etcd": ended()}, Stage.STARTED),
        ({"guard": COMPLETED, "etcd": {"state": CRASH_LOOP, "lastState": ended()}}, Stage.STARTED),
        ({"guard": RUNNING, "etcd": {"state": NOT_YET, "restartCount": 1}}, Stage.STARTED),
        ({"guard": COMPLETED, "etcd": ended(), "phase": "Failed"}, Stage.ENDED),
        ({"guard": COMPLETED, "etcd": COMPLETED, "phase": "Succeeded"}, Stage.ENDED),
    ],
)
def test_how_far_a_pod_has_come(reported: dict[str, Any], stage: Stage) -> None:
    assert body_of(a_pod(**reported)).stage is stage


def test_with_a_dns_check_of_the_users_image_the_guard_is_the_second() -> None:
    statuses = [{"name": "check-dns", "state": RUNNING}, {"name": "guard", "state": NOT_YET}]
    assert body_of(a_pod(initContainerStatuses=statuses)).stage is Stage.PREPARING

    statuses = [{"name": "check-dns", "state": COMPLETED}, {"name": "guard", "state": RUNNING}]
    assert body_of(a_pod(initContainerStatuses=statuses)).stage is Stage.GUARDED


def test_a_container_that_a_service_mesh_put_behind_the_guard_is_not_taken_for_it() -> None:
    statuses = [{"name": "check-dns", "state": RUNNING}, {"name": "mesh-init", "state": NOT_YET}]
    assert body_of(a_pod(initContainerStatuses=statuses)).stage is Stage.GUARDED

    statuses = [{"name": "mesh-init", "state": RUNNING}, {"name": "check-dns", "state": NOT_YET}]
    assert body_of(a_pod(initContainerStatuses=statuses)).stage is Stage.PREPARING


def test_what_kubernetes_says_at_great_length_is_shortened() -> None:
    waiting = {"waiting": {"reason": "ErrImagePull", "message": "<html>" * 10_000}}

    assert len(body_of(a_pod(etcd=waiting)).trouble) <= 300


@pytest.mark.parametrize("guard", [ended(DISK_LOST), {"state": CRASH_LOOP, "lastState": ended(DISK_LOST)}])
def test_what_the_guard_decided_is_believed_when_it_has_ended(guard: Any) -> None:
    assert body_of(a_pod(guard=guard, etcd=NOT_YET)).verdict == Refusal("DiskLost", "The disk is empty.")


@pytest.mark.parametrize(
    "guard", [{"state": RUNNING, "lastState": ended(DISK_LOST)}, COMPLETED, {"state": COMPLETED, "lastState": ended()}]
)
def test_a_guard_that_looks_again_or_let_etcd_start_has_decided_nothing(guard: Any) -> None:
    assert body_of(a_pod(guard=guard, etcd=NOT_YET)).verdict is None


def test_a_guard_that_broke_is_quoted() -> None:
    found = body_of(a_pod(guard=ended("Traceback …\nModuleNotFoundError: no module"), etcd=NOT_YET))

    assert found.verdict == Refusal("GuardFailed", "ModuleNotFoundError: no module")


def test_a_pod_that_no_node_takes_says_why() -> None:
    unplaced = {"status": "False", "reason": "Unschedulable", "message": "0/3 nodes fit."}

    assert body_of(a_pod(node="", conditions={"PodScheduled": unplaced})).trouble == "Unschedulable: 0/3 nodes fit."


def test_an_image_that_does_not_pull_is_named() -> None:
    waiting = {"waiting": {"reason": "ImagePullBackOff", "message": 'Back-off pulling image "e:v9"'}}

    assert body_of(a_pod(guard=COMPLETED, etcd=waiting)).trouble == 'ImagePullBackOff: Back-off pulling image "e:v9"'


def test_a_member_that_ends_again_and_again_says_how_often_and_its_last_words() -> None:
    log = '{"level":"info","msg":"starting"}\n{"level":"fatal","msg":"no","error":"disk full"}\n'
    etcd = {"state": CRASH_LOOP, "lastState": ended(log, code=2), "restartCount": 4}

    assert body_of(a_pod(guard=COMPLETED, etcd=etcd)).trouble == "etcd ended with 2, 4 times so far: no: disk full"


def test_a_pod_on_its_way_is_in_no_trouble() -> None:
    assert body_of(a_pod(guard={"waiting": {"reason": "ContainerCreating"}}, etcd=NOT_YET)).trouble == ""
    assert body_of(a_pod(guard=COMPLETED, etcd=RUNNING, phase="Running")).trouble == ""


def test_an_evicted_pod_says_so() -> None:
    found = body_of(a_pod(phase="Failed", reason="Evicted", message="The node was low on memory."))

    assert found.trouble == "Evicted: The node was low on memory."


def test_what_the_operator_wrote_on_a_pod_is_read_from_it_again() -> None:
    made = pod_of(cluster := a_cluster(pod={"persistentVolumeClaimSpec": CLAIM}), a_joiner(cluster))
    identity = Identity(cluster_id=0xC1, member_id=0xA1)
    annotations = {**made["metadata"]["annotations"], IDENTITY: written(identity)}

    found = body_of(a_pod(annotations=annotations, spec=made["spec"]))

    assert found.joins == {"demo-b6vg8nsjf5", "demo-p9qdh4mrlc", "demo-x7k2b9tqzw"}
    assert found.identity == identity
    assert found.policy == annotations[POD_POLICY]
    assert found.version == Version(3, 6, 16)
    assert found.image == "example.test/etcd:v3.6.16"
    assert (found.on_claim, found.restarts_itself, found.gated) == (True, True, True)
    assert annotations[JOINS].count(",") == 2


def test_a_pod_of_the_old_operator_is_seen_as_what_it_is() -> None:
    found = body_of(
        a_pod(annotations={VERSION: "3.2.13"}, spec={"restartPolicy": "Never"}, etcd=RUNNING, phase="Running")
    )

    assert found.version == Version(3, 2, 13)
    assert (found.policy, found.identity, found.joins) == (None, None, frozenset())
    assert (found.on_claim, found.restarts_itself, found.gated) == (False, False, False)


def test_times_and_conditions_are_read() -> None:
    conditions = {"Ready": "True", SERVING: "True"}
    found = body_of(
        a_pod(guard=COMPLETED, etcd={"state": RUNNING, "ready": True}, phase="Running", conditions=conditions)
    )

    assert (found.running, found.ready, found.serving, found.deleting) == (True, True, True, False)
    assert found.running_since == datetime(2026, 11, 15, 12, 34, 6, tzinfo=UTC)
    assert found.created == datetime(2026, 11, 15, 12, 34, 3, tzinfo=UTC)


def test_a_pod_without_a_version_that_can_be_read_has_none() -> None:
    assert body_of(a_pod(annotations={VERSION: "latest"})).version is None
    assert body_of(a_pod()).version is None


def test_a_new_process_is_not_ready_by_the_word_of_the_old_one() -> None:
    found = body_of(a_pod(guard=COMPLETED, etcd=RUNNING, phase="Running", conditions={"Ready": "True"}))

    assert not found.ready
