from __future__ import annotations

from typing import Any

import pytest

from tests.unit.cluster.clusters import a_cluster, container, pod_of

CONTEXTS: list[dict[str, Any]] = [
    {},
    {"fsGroup": 1000},
    {"runAsUser": None},
    {"runAsUser": 0},
    {"runAsUser": 9000},
    {"runAsNonRoot": True},
    {"runAsNonRoot": True, "runAsUser": 9000, "fsGroup": 9000},
]
CAN_BE_ROOT = CONTEXTS[:4]


def pod_with(context: dict[str, Any] | None) -> Any:
    return pod_of(a_cluster(pod={"securityContext": context}))


def all_containers(pod: Any) -> list[Any]:
    return [*pod["spec"]["initContainers"], *pod["spec"]["containers"]]


@pytest.mark.parametrize("policy", [None, {}, {"busyboxImage": "busybox:1.36"}])
def test_by_default_a_pod_fits_the_restricted_profile(policy: Any) -> None:
    pod = pod_of(a_cluster(pod=policy))

    assert pod["spec"]["securityContext"]["runAsNonRoot"] is True
    assert pod["spec"]["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert not {"hostNetwork", "hostPID", "hostIPC"} & set(pod["spec"])
    for each in all_containers(pod):
        assert each["securityContext"]["allowPrivilegeEscalation"] is False
        assert each["securityContext"]["capabilities"] == {"drop": ["ALL"]}
        assert "runAsUser" not in each["securityContext"]
    assert {*pod["spec"]["volumes"][0]} - {"name"} <= {"emptyDir", "persistentVolumeClaim", "secret"}


@pytest.mark.parametrize("context", CONTEXTS)
def test_the_users_context_takes_the_place_of_ours(context: dict[str, Any]) -> None:
    assert pod_with(context)["spec"]["securityContext"] == context


@pytest.mark.parametrize("context", CONTEXTS)
def test_who_may_be_root_keeps_roots_capabilities(context: dict[str, Any]) -> None:
    dropped = ["capabilities" in each["securityContext"] for each in all_containers(pod_with(context))]

    assert dropped == [context not in CAN_BE_ROOT] * 2


@pytest.mark.parametrize("context", CONTEXTS)
def test_the_guard_can_read_what_etcd_wrote(context: dict[str, Any]) -> None:
    """Its image has a user of its own, etcd's has none: so it is told where the pod tells nobody."""
    pod = pod_with(context)
    guard = container(pod, "check-dns")["securityContext"].get("runAsUser")

    left_to_images = context.get("runAsUser") is None and not context.get("runAsNonRoot")
    assert guard == (0 if left_to_images else None)
