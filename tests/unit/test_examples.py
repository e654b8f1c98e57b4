"""The example tree has the names that users and their scripts know; that it applies, tests/box shows."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
import yaml

from box.image.images import OPERATOR
from box.image.names import normalise
from box.layout import REPOSITORY
from dev.generating import operator_pods

EXAMPLE = REPOSITORY / "example"
MANIFESTS = sorted([*EXAMPLE.rglob("*.yaml"), *EXAMPLE.rglob("*.json")])
STORAGE = {"<full-s3-path>", "<aws-secret>"}
ROLE, BINDING, NAMESPACE = "<ROLE_NAME>", "<ROLE_BINDING_NAME>", "<NAMESPACE>"
FILLED_IN = {
    "backup_cr.yaml": STORAGE | {"<etcd-cluster-endpoints>"},
    "periodic_backup_cr.yaml": STORAGE | {"<etcd-cluster-endpoints>"},
    "restore_cr.yaml": STORAGE,
    "cluster-role-template.yaml": {ROLE},
    "cluster-role-binding-template.yaml": {ROLE, BINDING, NAMESPACE},
    "role-template.yaml": {ROLE, NAMESPACE},
    "role-binding-template.yaml": {ROLE, BINDING, NAMESPACE},
}
GROUP = "etcd.database.coreos.com/v1beta2"
TODAY = {
    "EtcdCluster": GROUP,
    "EtcdBackup": GROUP,
    "EtcdRestore": GROUP,
    "Deployment": "apps/v1",
    "Service": "v1",
    "ClusterRole": "rbac.authorization.k8s.io/v1",
    "ClusterRoleBinding": "rbac.authorization.k8s.io/v1",
    "Role": "rbac.authorization.k8s.io/v1",
    "RoleBinding": "rbac.authorization.k8s.io/v1",
}


def body(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))


def placeholders(text: str) -> set[str]:
    return set(re.findall(r"<[\w-]+>", body(text)))


def test_files_kinds_and_object_names_are_those_that_users_know() -> None:
    found = {
        str(path.relative_to(EXAMPLE)): (manifest["kind"], manifest["metadata"]["name"])
        for path in MANIFESTS
        for manifest in [yaml.safe_load(path.read_text())]
    }

    assert found == {
        "deployment.yaml": ("Deployment", "etcd-operator"),
        "deployment_psp.yaml": ("Deployment", "etcd-operator"),
        "example-etcd-cluster.yaml": ("EtcdCluster", "example-etcd-cluster"),
        "example-etcd-cluster-pod-policy.yaml": ("EtcdCluster", "example-etcd-cluster-pod-policy"),
        "example-etcd-cluster-nodeport-service.json": ("Service", "example-etcd-cluster-client-service"),
        "rbac/cluster-role-template.yaml": ("ClusterRole", ROLE),
        "rbac/cluster-role-binding-template.yaml": ("ClusterRoleBinding", BINDING),
        "rbac/role-template.yaml": ("Role", ROLE),
        "rbac/role-binding-template.yaml": ("RoleBinding", BINDING),
        "tls/example-tls-cluster.yaml": ("EtcdCluster", "example"),
        "etcd-backup-operator/backup_cr.yaml": ("EtcdBackup", "example-etcd-cluster-backup"),
        "etcd-backup-operator/periodic_backup_cr.yaml": ("EtcdBackup", "example-etcd-cluster-periodic-backup"),
        "etcd-restore-operator/restore_cr.yaml": ("EtcdRestore", "example-etcd-cluster"),
    }


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.name)
def test_every_example_is_of_todays_version_of_its_api(path: Path) -> None:
    manifest = yaml.safe_load(path.read_text())

    assert manifest["apiVersion"] == TODAY[manifest["kind"]]


def test_the_scripts_are_where_they_were_and_can_be_run() -> None:
    for script in ("rbac/create_role.sh", "tls/certs/gen-cert.sh"):
        assert os.access(EXAMPLE / script, os.X_OK), script


def test_the_templates_have_the_placeholders_that_scripts_replace() -> None:
    found = {path.name: placeholders(path.read_text()) for path in MANIFESTS}

    assert {name: names for name, names in found.items() if names} == FILLED_IN


def test_each_file_explains_the_placeholders_that_it_has() -> None:
    for path in MANIFESTS:
        explained = set(re.findall(r"^#   (<[\w-]+>)  +\S", path.read_text(), re.MULTILINE))

        assert explained == placeholders(path.read_text()), path.name


@pytest.mark.parametrize("name", ["deployment.yaml", "deployment_psp.yaml"])
def test_the_operator_runs_as_an_installation_would_run_it(name: str) -> None:
    deployment = yaml.safe_load((EXAMPLE / name).read_text())
    [container] = deployment["spec"]["template"]["spec"]["containers"]

    assert container == operator_pods.container(())
    assert deployment["spec"]["replicas"] == 1
    assert deployment["spec"]["selector"]["matchLabels"] == {"name": "etcd-operator"}
    assert deployment["spec"]["template"]["metadata"]["labels"] == {"name": "etcd-operator"}


def test_the_two_deployments_differ_in_user_and_group_only() -> None:
    plain, named = (yaml.safe_load((EXAMPLE / name).read_text()) for name in ("deployment.yaml", "deployment_psp.yaml"))

    plain["spec"]["template"]["spec"]["securityContext"] |= {"runAsUser": 1000, "fsGroup": 1000}
    assert plain == named


def test_the_image_is_one_that_the_box_has() -> None:
    assert normalise(operator_pods.IMAGE) in OPERATOR.names


def test_the_node_port_leads_to_the_members_of_the_first_example() -> None:
    service = yaml.safe_load((EXAMPLE / "example-etcd-cluster-nodeport-service.json").read_text())

    assert service["spec"]["selector"] == {"app": "etcd", "etcd_cluster": "example-etcd-cluster"}
    assert [(port["port"], port["nodePort"]) for port in service["spec"]["ports"]] == [(2379, 32379)]
