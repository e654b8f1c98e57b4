"""`deploy/install.yaml` and its sibling for one namespace: taken, admitted, as mighty as they say, and gone again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from box.layout import REPOSITORY
from tests.box.api import definitions
from tests.box.deploy.access import Attempt, account, allowed, may, refused
from tests.box.deploy.attempts import AT_HOME, IN_NO_NAMESPACE, NEVER, NEVER_OUTSIDE, WITH_CLUSTERS
from tests.box.deploy.shell import Shell, shell
from tests.box.deploy.test_deployment import pods, started
from tests.box.driving import Box, eventually

INSTALL = "kubectl apply --validate=strict -f deploy/install.yaml"
HOME = "etcd-operator"
OPERATOR = account("etcd-operator", HOME)
CLUSTER = {
    "apiVersion": "etcd.database.coreos.com/v1beta2",
    "kind": "EtcdCluster",
    "metadata": {"name": "demo", "annotations": {}},
    "spec": {"size": 3, "version": "3.6.16", "paused": True},
}


@pytest.fixture(scope="module")
def installed(box: Box, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """What applying it said. The CRDs are there before: that the operator brings its own, its own tests show."""
    definitions.install(box)
    run = shell(box, folder=REPOSITORY, namespace="default", scratch=tmp_path_factory.mktemp("shell"))
    run("kubectl delete -f deploy/admission")
    try:
        done = run.run(INSTALL)
        assert done.returncode == 0, done.stderr
        yield done.stdout + done.stderr
    finally:
        run("kubectl delete --ignore-not-found -f deploy/install.yaml")
        definitions.install(box)  # the advice that the API tests know went with it


def versions(run: Shell) -> dict[str, str]:
    """A number for each object that grows when what is wanted of it changes."""
    found = json.loads(run("kubectl get -f deploy/install.yaml -o json"))["items"]
    described = {f"{each['kind']} {each['metadata']['name']}": each["metadata"] for each in found}
    return {name: str(known.get("generation") or known["resourceVersion"]) for name, known in described.items()}


def test_it_is_taken_without_a_word(installed: str) -> None:
    lines = installed.splitlines()

    assert lines
    assert [line for line in lines if not line.endswith(" created")] == []


def test_applied_again_it_changes_nothing(installed: str, reader: Shell) -> None:
    before = versions(reader)

    reader(INSTALL)

    assert len(before) == len(installed.splitlines())
    assert versions(reader) == before


def test_server_side_apply_takes_it_too(installed: str, reader: Shell) -> None:
    said = reader("kubectl apply --server-side --force-conflicts --dry-run=server -f deploy/install.yaml")

    assert said.count("serverside-applied") == len(installed.splitlines())


def test_two_operators_are_let_in_under_the_restricted_profile(installed: str, box: Box) -> None:
    namespace = box.api.get(f"/api/v1/namespaces/{HOME}")
    assert namespace["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"

    eventually(lambda: len(pods(box, HOME)) == 2, within=60)
    for pod in pods(box, HOME):
        assert eventually(partial(started, box, HOME, pod["metadata"]["name"]), within=60)


def test_the_operator_may_do_its_work_in_any_namespace_and_keep_its_lease_at_home(
    installed: str, box: Box, namespace: str
) -> None:
    eventually(lambda: refused(box, OPERATOR, WITH_CLUSTERS, namespace=namespace) == [], within=20)

    assert refused(box, OPERATOR, AT_HOME, namespace=HOME) == []
    assert refused(box, OPERATOR, IN_NO_NAMESPACE) == []


def test_and_nothing_else(installed: str, box: Box, namespace: str) -> None:
    assert allowed(box, OPERATOR, AT_HOME, namespace=namespace) == []
    for place in (namespace, "kube-system", HOME):
        assert allowed(box, OPERATOR, NEVER, namespace=place) == []
    assert allowed(box, OPERATOR, NEVER_OUTSIDE) == []


def test_whoever_edits_a_namespace_edits_its_clusters_and_whoever_views_it_views_them(
    installed: str, box: Box, namespace: str
) -> None:
    group = "etcd.database.coreos.com"
    change, look = Attempt("patch", "etcdclusters", group), Attempt("list", "etcdclusters", group)
    for user, role in (("jane", "edit"), ("joe", "view")):
        box.kubectl("create", "rolebinding", user, f"--clusterrole={role}", f"--user={user}", "-n", namespace)

    eventually(lambda: may(box, "jane", change, namespace=namespace), within=30)
    eventually(lambda: may(box, "joe", look, namespace=namespace), within=30)
    assert may(box, "jane", look, namespace=namespace)
    assert not may(box, "joe", change, namespace=namespace)
    assert not may(box, "jane", Attempt("patch", "etcdclusters/status", group), namespace=namespace)
    assert not may(box, "jane", change, namespace="default")


def created(run: Shell, folder: Path, *, scope: str) -> str:
    """What kubectl says when a cluster is created."""
    annotations = {"etcd.database.coreos.com/scope": scope} if scope else {}
    cluster = CLUSTER | {"metadata": {"name": "demo", "annotations": annotations}}
    (folder / "cluster.json").write_text(json.dumps(cluster))
    done = run.run(f"kubectl create --dry-run=server -f {folder / 'cluster.json'}")
    assert done.returncode == 0, done.stderr
    return done.stderr


def test_a_cluster_that_this_operator_would_not_see_gets_a_warning(
    installed: str, reader: Shell, tmp_path: Path
) -> None:
    eventually(lambda: "leaves this cluster alone" in created(reader, tmp_path, scope=""), within=30)

    assert "leaves this cluster alone" in created(reader, tmp_path, scope="elsewhere")
    assert "leaves this cluster alone" not in created(reader, tmp_path, scope="clusterwide")


def test_deleting_it_leaves_definitions_and_clusters(installed: str, box: Box, reader: Shell, namespace: str) -> None:
    box.kubectl("apply", "-n", namespace, "-f", "-", given=json.dumps(CLUSTER))
    before = box.get("etcd", "demo", namespace)["metadata"]["uid"]

    reader("kubectl delete -f deploy/install.yaml")

    assert box.get("etcd", "demo", namespace)["metadata"]["uid"] == before
    assert "NotFound" in reader.run(f"kubectl get namespace {HOME}").stderr
    reader(INSTALL)


def test_the_one_for_a_namespace_goes_where_it_is_told_and_has_no_right_elsewhere(
    box: Box, reader: Shell, namespace: str
) -> None:
    box.kubectl("label", "namespace", namespace, "pod-security.kubernetes.io/enforce=restricted")

    done = reader.run(f"kubectl apply --validate=strict -n {namespace} -f deploy/install-namespaced.yaml")

    assert (done.returncode, done.stderr) == (0, "")
    operator = account("etcd-operator", namespace)
    eventually(lambda: refused(box, operator, WITH_CLUSTERS + AT_HOME, namespace=namespace) == [], within=20)
    eventually(lambda: len(pods(box, namespace)) == 2, within=60)
    assert allowed(box, operator, NEVER, namespace=namespace) == []
    assert allowed(box, operator, WITH_CLUSTERS + AT_HOME, namespace="default") == []
    assert allowed(box, operator, IN_NO_NAMESPACE + NEVER_OUTSIDE) == []
