from __future__ import annotations

import socket
from pathlib import Path

import pytest

from etcd_operator.cli.place import PlaceError, find

KUBECONFIG = """
apiVersion: v1
kind: Config
current-context: one
contexts:
- {name: one, context: {cluster: a, user: a, namespace: theirs}}
- {name: two, context: {cluster: a, user: a}}
users: [{name: a, user: {}}]
clusters: [{name: a, cluster: {server: "https://192.0.2.1:6443"}}]
"""


@pytest.fixture
def kubeconfig(tmp_path: Path) -> Path:
    path = tmp_path / "config"
    path.write_text(KUBECONFIG)
    return path


def test_outside_the_kubeconfig_says_which_namespace(kubeconfig: Path) -> None:
    place = find(kubeconfig=kubeconfig, environment={})

    assert (place.namespace, place.pod, place.name) == ("theirs", None, socket.gethostname())
    assert place.connection.server == "https://192.0.2.1:6443"


def test_a_context_without_a_namespace_means_the_default_one(kubeconfig: Path) -> None:
    assert find(kubeconfig=kubeconfig, context="two", environment={}).namespace == "default"


def test_a_namespace_that_was_named_is_taken(kubeconfig: Path) -> None:
    assert find(kubeconfig=kubeconfig, namespace="mine", environment={}).namespace == "mine"


def test_a_kubeconfig_in_a_pod_means_that_cluster_and_needs_no_variables(kubeconfig: Path) -> None:
    inside = {"KUBERNETES_SERVICE_HOST": "192.0.2.9", "KUBERNETES_SERVICE_PORT": "443"}

    place = find(environment={**inside, "KUBECONFIG": str(kubeconfig)})

    assert (place.namespace, place.pod) == ("theirs", None)


@pytest.mark.parametrize(
    ("missing", "field"), [("MY_POD_NAMESPACE", "metadata.namespace"), ("MY_POD_NAME", "metadata.name")]
)
def test_in_a_pod_its_namespace_and_name_must_be_told(missing: str, field: str) -> None:
    environment = {"KUBERNETES_SERVICE_HOST": "192.0.2.9", "MY_POD_NAMESPACE": "etcd", "MY_POD_NAME": "operator-1"}
    environment[missing] = ""

    with pytest.raises(PlaceError, match=f"{missing} is not set.*{field}"):
        find(environment=environment)


def test_no_way_to_a_cluster_is_told_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(PlaceError, match="No way to a Kubernetes cluster"):
        find(kubeconfig=tmp_path / "missing", environment={})
