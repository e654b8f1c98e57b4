"""The commands of the page about installing, typed one after another as a reader would, and what comes of them."""

from __future__ import annotations

import http.client
import re
from collections.abc import Iterator

import pytest

from box.layout import REPOSITORY
from tests.box.api import definitions
from tests.box.deploy.shell import Shell, blocks
from tests.box.driving import Box, eventually

PAGE = REPOSITORY / "docs" / "install.md"
CLUSTER = "example-etcd-cluster"
REFUSED = re.compile(r'^etcd_operator_kube_requests_total\{code="40[13]".*$', re.MULTILINE)


@pytest.fixture
def as_it_was(box: Box, reader: Shell) -> Iterator[None]:
    """Whatever the page leaves behind, or did not come to remove, goes; so does what others put in its way."""
    box.kubectl("delete", "--ignore-not-found", "-f", str(definitions.ADMISSION))
    try:
        yield
    finally:
        reader("kubectl delete --ignore-not-found -f deploy/install.yaml")
        reader("kubectl delete --ignore-not-found clusterrole,clusterrolebinding etcd-operator")
        reader("kubectl delete --ignore-not-found namespace databases")
        definitions.install(box)


def ready(box: Box, namespace: str) -> str:
    return str(box.get("etcd", CLUSTER, namespace).get("status", {}).get("membersReady", ""))


def members(box: Box, namespace: str) -> dict[str, str]:
    """The pods of the cluster that are ready, each with what tells it from a successor."""
    found = box.api.get(f"/api/v1/namespaces/{namespace}/pods")["items"]
    return {
        pod["metadata"]["name"]: pod["metadata"]["uid"]
        for pod in found
        if pod["metadata"]["labels"].get("etcd_cluster") == CLUSTER
        and any(entry["type"] == "Ready" and entry["status"] == "True" for entry in pod["status"]["conditions"])
    }


def refusals(box: Box, namespace: str) -> list[str]:
    """What the API server has refused to the operators of a namespace, as they count it themselves."""
    found = box.api.get(f"/api/v1/namespaces/{namespace}/pods")["items"]
    operators = [pod for pod in found if pod["metadata"]["labels"].get("name") == "etcd-operator"]
    assert operators
    pages = [
        box.kubectl("get", "--raw", f"/api/v1/namespaces/{namespace}/pods/{pod['metadata']['name']}:8080/proxy/metrics")
        for pod in operators
    ]
    assert any("etcd_operator_kube_requests_total{" in page for page in pages)
    return [line for page in pages for line in REFUSED.findall(page)]


def answer_at(host: str, port: int) -> int:
    connection = http.client.HTTPConnection(host, port, timeout=5)
    try:
        connection.request("GET", "/version")
        return connection.getresponse().status
    finally:
        connection.close()


@pytest.mark.usefixtures("as_it_was")
def test_as_you_know_it(box: Box, reader: Shell, namespace: str) -> None:
    install, create, remove = blocks(PAGE, heading="As you know it")

    reader("kubectl delete --ignore-not-found -f deploy/crds/etcdclusters.yaml")
    said = reader(install, NAMESPACE=namespace)
    assert "etcdclusters.etcd.database.coreos.com" in said  # made by the operator

    reader(create)
    eventually(lambda: ready(box, namespace) == "3/3" and len(members(box, namespace)) == 3)
    assert refusals(box, namespace) == []

    reader("kubectl create -f example/example-etcd-cluster-nodeport-service.json")
    [first, *_] = box.api.get("/api/v1/nodes")["items"]
    [address] = [entry["address"] for entry in first["status"]["addresses"] if entry["type"] == "InternalIP"]
    eventually(lambda: box.inside(lambda: answer_at(address, 32379)) == 200, within=30)

    reader(remove)
    assert "NotFound" in reader.run("kubectl get deployment etcd-operator").stderr
    eventually(lambda: members(box, namespace) == {}, within=60)


@pytest.mark.usefixtures("as_it_was")
def test_for_all_namespaces(box: Box, reader: Shell, namespace: str) -> None:
    install, create, remove = blocks(PAGE, heading="For all namespaces")

    reader(install)
    reader(create)
    eventually(lambda: ready(box, namespace) == "3/3" and len(members(box, namespace)) == 3)
    before = members(box, namespace)
    assert refusals(box, "etcd-operator") == []

    reader(remove)
    assert "NotFound" in reader.run("kubectl get namespace etcd-operator").stderr
    assert members(box, namespace) == before


@pytest.mark.usefixtures("as_it_was")
def test_for_one_namespace(box: Box, reader: Shell) -> None:
    install, remove = blocks(PAGE, heading="For one namespace")

    reader(install)
    reader("kubectl apply -n databases -f example/example-etcd-cluster.yaml")
    eventually(lambda: ready(box, "databases") == "3/3" and len(members(box, "databases")) == 3)
    assert refusals(box, "databases") == []

    reader(remove)
    assert len(members(box, "databases")) == 3


def test_nothing_on_the_page_is_left_untried() -> None:
    tried = sum(
        len(blocks(PAGE, heading=heading)) for heading in ("As you know it", "For all namespaces", "For one namespace")
    )

    assert tried == len(blocks(PAGE)) == 8
