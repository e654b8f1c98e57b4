"""`kubectl create -f example/deployment.yaml`, where nothing but the strictest profile is let in."""

from __future__ import annotations

import json
import re
from functools import partial

import pytest

from box.layout import REPOSITORY
from tests.box.deploy.shell import Shell
from tests.box.driving import Box, Object, eventually

OPTION = re.compile(r"^( *)#(?! \S)", re.MULTILINE)  # stands right behind its `#`, where words have a blank


def restrict(box: Box, namespace: str) -> None:
    box.kubectl("label", "namespace", namespace, "pod-security.kubernetes.io/enforce=restricted")


def pods(box: Box, namespace: str) -> list[Object]:
    found: list[Object] = box.api.get(f"/api/v1/namespaces/{namespace}/pods")["items"]
    return [pod for pod in found if pod["metadata"]["labels"].get("name") == "etcd-operator"]


@pytest.mark.parametrize("name", ["deployment.yaml", "deployment_psp.yaml"])
def test_the_operators_pod_is_let_in_under_the_restricted_profile(
    box: Box, reader: Shell, namespace: str, name: str
) -> None:
    restrict(box, namespace)

    done = reader.run(f"kubectl create --validate=strict -f example/{name}")

    assert done.returncode == 0
    assert done.stderr == ""  # a Deployment whose pods would be refused is taken with a warning
    [pod] = eventually(lambda: pods(box, namespace), within=60)
    status = eventually(partial(started, box, namespace, pod["metadata"]["name"]), within=60)
    assert status["image"].endswith("etcd-operator:dev")


def started(box: Box, namespace: str, name: str) -> Object:
    """The container's status once it has run, for however long; empty before."""
    pod = box.api.get(f"/api/v1/namespaces/{namespace}/pods/{name}")
    [status] = pod["status"].get("containerStatuses") or [{}]
    begun = {*status.get("state", {}), *status.get("lastState", {})} & {"running", "terminated"}
    return status if begun else {}


def test_the_option_in_it_applies_as_it_stands(box: Box, namespace: str) -> None:
    text = OPTION.sub(r"\1", (REPOSITORY / "example/deployment.yaml").read_text())

    box.kubectl("create", "--validate=strict", "-n", namespace, "-f", "-", given=text)

    stored = box.get("deployment", "etcd-operator", namespace)
    [container] = stored["spec"]["template"]["spec"]["containers"]
    assert container["command"] == ["etcd-operator", "-cluster-wide"]


def test_it_takes_the_place_of_the_archived_operators_deployment(box: Box, reader: Shell, namespace: str) -> None:
    container = {"name": "etcd-operator", "image": "busybox:1.28.0-glibc", "command": ["sleep", "1d"]}
    old = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "etcd-operator", "namespace": namespace},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": {"name": "etcd-operator"}},
            "template": {"metadata": {"labels": {"name": "etcd-operator"}}, "spec": {"containers": [container]}},
        },
    }
    box.kubectl("create", "-f", "-", given=json.dumps(old))
    before = box.get("deployment", "etcd-operator", namespace)["metadata"]["uid"]

    reader("kubectl apply --validate=strict -f example/deployment.yaml")

    stored = box.get("deployment", "etcd-operator", namespace)
    [now] = stored["spec"]["template"]["spec"]["containers"]
    assert stored["metadata"]["uid"] == before
    assert (now["image"], now["command"]) == ("etcd-operator:dev", ["etcd-operator"])


def test_the_node_port_service_is_taken(box: Box, reader: Shell, namespace: str) -> None:
    reader("kubectl create --validate=strict -f example/example-etcd-cluster-nodeport-service.json")

    stored = box.get("service", "example-etcd-cluster-client-service", namespace)
    assert stored["spec"]["ports"][0]["nodePort"] == 32379
