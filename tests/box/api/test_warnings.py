"""What the API server says beside its yes, as kubectl shows it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.box.api.definitions import ADMISSION, GROUP_PATH, policies
from tests.box.driving import Box, eventually

Object = dict[str, Any]
Applying = Callable[[Object], list[str]]

WARNING = re.compile(r"^Warning: .*? with binding '[\w-]+': (?P<text>.*)$", re.MULTILINE)
CLAIM: Object = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}


def warnings_of(box: Box, *arguments: str) -> list[str]:
    """What a kubectl command that succeeds warns of."""
    done = box.command("kubectl", *arguments)
    assert done.returncode == 0, done.stderr
    return [found["text"] for found in WARNING.finditer(done.stderr)]


def cluster(name: str, *, size: int = 3, pod: Object | None = None) -> Object:
    policy = {"persistentVolumeClaimSpec": CLAIM} if pod is None else pod
    return {
        "apiVersion": "etcd.database.coreos.com/v1beta2",
        "kind": "EtcdCluster",
        "metadata": {"name": name},
        "spec": {"size": size, "version": "3.6.16", "pod": policy},
    }


@pytest.fixture(scope="module", autouse=True)
def speaking(box: Box, definitions: None, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A policy takes a moment from its creation to its first word."""
    probe = tmp_path_factory.mktemp("probe") / "cluster.json"
    probe.write_text(json.dumps(cluster("probe", size=2)))
    eventually(lambda: warnings_of(box, "create", "--dry-run=server", "-f", str(probe)), within=60)


@pytest.fixture
def applied(box: Box, common_namespace: str, tmp_path: Path) -> Applying:
    def apply(obj: Object) -> list[str]:
        path = tmp_path / "cluster.json"
        path.write_text(json.dumps(obj))
        return warnings_of(box, "apply", "-n", common_namespace, "-f", str(path))

    return apply


def test_the_policies_apply_by_kubectl_and_their_expressions_fit_the_types(box: Box) -> None:
    box.kubectl("apply", "-f", str(ADMISSION))

    for policy in policies():
        if policy["kind"] == "ValidatingAdmissionPolicy":
            path = f"/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/{policy['metadata']['name']}"
            assert eventually(partial(type_check, box, path)) == {"typeChecking": {}}


def type_check(box: Box, path: str) -> Object:
    """What came out when the server held a policy's expressions against the types; empty before it did."""
    policy = box.api.get(path)
    status: Object = policy.get("status", {})
    checked = status.pop("observedGeneration", None) == policy["metadata"]["generation"]
    return status if checked else {}


def test_an_even_size_is_told_what_it_costs_and_let_pass(applied: Applying) -> None:
    [four] = applied(cluster("even", size=4))
    [six] = applied(cluster("even", size=6))

    assert four == (
        "spec.size is 4: it survives the loss of 1, no more than a size of 3 does, "
        "but 3 members instead of 2 must answer every write. Choose 3 or 5."
    )
    assert six.startswith("spec.size is 6: it survives the loss of 2, no more than a size of 5 does")
    assert applied(cluster("even", size=7)) == []


def test_kubectl_scale_warns_of_an_even_size_once(box: Box, common_namespace: str, applied: Applying) -> None:
    def scaled(size: int) -> list[str]:
        return warnings_of(box, "scale", "etcd", "scaled", "-n", common_namespace, f"--replicas={size}")

    applied(cluster("scaled", size=3))

    assert scaled(5) == []
    [two] = scaled(2)
    assert two == (
        "spec.size is 2: it survives the loss of 0, no more than a size of 1 does, "
        "but 2 members instead of 1 must answer every write. Choose 1 or 3."
    )
    assert scaled(2) == []


def test_members_without_volumes_are_told_what_they_may_lose(applied: Applying) -> None:
    [bare] = applied(cluster("bare", pod={}))

    assert "spec.pod.persistentVolumeClaimSpec is not set" in bare
    assert applied(cluster("bare", pod={"persistentVolumeClaimSpec": CLAIM})) == []
    assert applied(cluster("bare", pod={})) == [bare]


def test_a_deprecated_field_is_told_its_successor(applied: Applying) -> None:
    claimed = {"persistentVolumeClaimSpec": CLAIM}

    [said] = applied(cluster("deprecated", pod=claimed | {"antiAffinity": True}))

    assert "spec.pod.antiAffinity is deprecated" in said
    assert "spec.pod.affinity.podAntiAffinity" in said
    assert applied(cluster("other-way", pod=claimed | {"antiAffinity": False})) == []


def test_nothing_said_of_pods_and_null_mean_no_volume_too(applied: Applying) -> None:
    silent = cluster("silent")
    del silent["spec"]["pod"]
    null = cluster("null", pod={"persistentVolumeClaimSpec": None})

    assert len(applied(silent)) == len(applied(null)) == 1


def test_what_was_warned_of_once_is_not_repeated_with_every_write(
    box: Box, common_namespace: str, applied: Applying
) -> None:
    worrying = cluster("worrying", size=4, pod={"antiAffinity": True})
    assert len(applied(worrying)) == 3

    assert warnings_of(box, "label", "etcd", "worrying", "-n", common_namespace, "team=storage") == []
    worrying["spec"]["version"] = "3.6.15"
    assert applied(worrying) == []


def test_a_status_write_is_not_warned_of(box: Box, common_namespace: str, applied: Applying) -> None:
    assert len(applied(cluster("reported", size=2, pod={}))) == 2
    change = '{"status": {"phase": "Running", "size": 2}}'

    said = warnings_of(
        box, "patch", "etcd", "reported", "-n", common_namespace, "--subresource=status", "--type=merge", f"-p={change}"
    )

    assert said == []
    stored = box.api.get(f"{GROUP_PATH}/namespaces/{common_namespace}/etcdclusters/reported")
    assert stored["status"]["size"] == 2
