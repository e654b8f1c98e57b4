"""The example tree has the names that users and their scripts know; that it applies, tests/box/api shows."""

from __future__ import annotations

import re

import yaml

from box.layout import REPOSITORY

EXAMPLE = REPOSITORY / "example"
MANIFESTS = sorted(EXAMPLE.rglob("*.yaml"))
PLACEHOLDERS = {"<etcd-cluster-endpoints>", "<full-s3-path>", "<aws-secret>"}


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
        "example-etcd-cluster.yaml": ("EtcdCluster", "example-etcd-cluster"),
        "tls/example-tls-cluster.yaml": ("EtcdCluster", "example"),
        "etcd-backup-operator/backup_cr.yaml": ("EtcdBackup", "example-etcd-cluster-backup"),
        "etcd-backup-operator/periodic_backup_cr.yaml": ("EtcdBackup", "example-etcd-cluster-periodic-backup"),
        "etcd-restore-operator/restore_cr.yaml": ("EtcdRestore", "example-etcd-cluster"),
    }


def test_the_templates_have_the_placeholders_that_scripts_replace() -> None:
    found = {path.name: placeholders(path.read_text()) for path in MANIFESTS}

    assert found["backup_cr.yaml"] == found["periodic_backup_cr.yaml"] == PLACEHOLDERS
    assert found["restore_cr.yaml"] == PLACEHOLDERS - {"<etcd-cluster-endpoints>"}
    assert found["example-etcd-cluster.yaml"] == found["example-tls-cluster.yaml"] == set()


def test_each_file_explains_the_placeholders_that_it_has() -> None:
    for path in MANIFESTS:
        explained = set(re.findall(r"^#   (<[\w-]+>)  +\S", path.read_text(), re.MULTILINE))

        assert explained == placeholders(path.read_text()), path.name
