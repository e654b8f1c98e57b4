"""The first steps as the documentation gives them, word for word, in the namespace `default`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from box.layout import REPOSITORY
from tests.box.cluster.clusters import Cluster
from tests.box.deploy.shell import Shell, shell
from tests.box.driving import Box, eventually

CRD = "etcdclusters.etcd.database.coreos.com"
NAME = "example-etcd-cluster"
MEMBER = re.compile(rf"{NAME}-[bcdfghjklmnpqrstvwxz2456789]{{10}}")

CLEAN = """
kubectl delete --ignore-not-found etcd --all
kubectl delete --ignore-not-found deployment,lease etcd-operator
kubectl delete --ignore-not-found clusterrole,clusterrolebinding etcd-operator
kubectl delete --ignore-not-found pods -l app=etcd --grace-period=0 --force
"""


@pytest.fixture
def user(box: Box, tmp_path: Path) -> Iterator[Shell]:
    """Somebody before a Kubernetes on which nobody has ever heard of etcd, in the root of the repository."""
    box.kubectl("delete", "crd", CRD, "--ignore-not-found", timeout=60)
    run = shell(box, folder=REPOSITORY, namespace="default", scratch=tmp_path)
    yield run
    run(CLEAN)


def operator_log(run: Shell) -> str:
    return run.run("kubectl logs deployment/etcd-operator --tail=100").stdout


def test_the_walk_through(box: Box, user: Shell) -> None:
    cluster = Cluster(box, "default", NAME, tell=lambda: operator_log(user))

    user("example/rbac/create_role.sh")
    user("kubectl create -f example/deployment.yaml")
    eventually(lambda: CRD in user("kubectl get crd"), within=90)

    user("kubectl wait --for=condition=Established --timeout=30s crd/" + CRD)
    user("kubectl apply -f example/example-etcd-cluster.yaml")
    members = cluster.settled()

    rows = [line.split() for line in user("kubectl get pods -l app=etcd --no-headers").splitlines()]
    assert [row[1:4] for row in rows] == [["1/1", "Running", "0"]] * 3
    assert all(MEMBER.fullmatch(row[0]) for row in rows)
    head, row = user("kubectl get etcd").splitlines()
    assert head.split()[:3] == ["NAME", "MEMBERS", "STATUS"]
    assert row.split()[:3] == [NAME, "3/3", "Healthy"]

    cluster.put("greeting", "hello")
    edited = json.loads(user("kubectl get etcd example-etcd-cluster -o json"))
    edited["spec"]["size"] = 5
    box.apply(edited)
    assert set(members) < set(cluster.settled())

    user("kubectl scale etcd example-etcd-cluster --replicas=3")
    cluster.settled()
    user(f"kubectl delete pod {cluster.settled()[0]}")
    cluster.settled()
    assert cluster.get("greeting") == "hello"

    user("kubectl delete -f example/example-etcd-cluster.yaml")
    eventually(lambda: not cluster.pods, within=60)
    assert user("kubectl get service,poddisruptionbudget -l app=etcd").strip() == ""
    cluster.close()
