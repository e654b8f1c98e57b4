"""The examples that are shipped, and what people wrote from the old ones."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from box.layout import REPOSITORY
from tests.box.api.old_examples import DOCUMENTED, EXAMPLES
from tests.box.driving import Box

EXAMPLE = REPOSITORY / "example"
FILLED = {
    "<etcd-cluster-endpoints>": '"http://example-etcd-cluster-client:2379", "http://10.0.0.1:2379"',
    "<full-s3-path>": "mybucket/v3/etcd.backup",
    "<aws-secret>": "aws",
}
OPTION = re.compile(r"^( *)#(?! \S)", re.MULTILINE)


def manifests() -> list[Path]:
    """Those of our own kinds; the others are tried in tests/box/deploy."""
    return sorted(path for path in EXAMPLE.rglob("*.yaml") if "etcd.database.coreos.com/v1beta2" in path.read_text())


def filled(text: str) -> str:
    for placeholder, value in FILLED.items():
        text = text.replace(placeholder, value)
    return text


def with_options(text: str) -> str:
    """The same with what is commented out: options stand right behind their `#`, words a blank after it."""
    return OPTION.sub(r"\1", text)


def apply_all(box: Box, folder: Path, namespace: str) -> str:
    return box.kubectl("apply", "--validate=strict", "-R", "-n", namespace, "-f", str(folder))


def test_every_shipped_example_applies_once_filled_in(box: Box, namespace: str, tmp_path: Path) -> None:
    for number, path in enumerate(manifests()):
        (tmp_path / f"{number}.yaml").write_text(filled(path.read_text()))

    done = apply_all(box, tmp_path, namespace)

    assert done.count(" created") == len(manifests()) == 6


def test_the_options_of_the_pod_policy_apply_as_they_stand(box: Box, namespace: str, tmp_path: Path) -> None:
    text = with_options((EXAMPLE / "example-etcd-cluster-pod-policy.yaml").read_text())
    (tmp_path / "all.yaml").write_text(text)

    apply_all(box, tmp_path, namespace)

    stored = box.get("etcd", "example-etcd-cluster-pod-policy", namespace)["spec"]["pod"]
    assert stored["persistentVolumeClaimSpec"]["storageClassName"] == "fast"
    assert stored["tolerations"] == [{"key": "dedicated", "operator": "Equal", "value": "etcd", "effect": "NoSchedule"}]


def test_the_options_in_the_first_example_apply_as_they_stand(box: Box, namespace: str, tmp_path: Path) -> None:
    text = with_options((EXAMPLE / "example-etcd-cluster.yaml").read_text())
    (tmp_path / "all.yaml").write_text(text)

    apply_all(box, tmp_path, namespace)

    stored = box.get("etcd", "example-etcd-cluster", namespace)
    assert stored["metadata"]["annotations"]["etcd.database.coreos.com/scope"] == "clusterwide"
    assert stored["spec"]["pod"]["persistentVolumeClaimSpec"]["resources"]["requests"]["storage"] == "8Gi"


@pytest.mark.parametrize("name", ["etcd-backup-operator/backup_cr.yaml", "etcd-restore-operator/restore_cr.yaml"])
def test_a_template_that_nobody_filled_in_is_refused_by_the_field_to_fill(box: Box, name: str) -> None:
    refused = box.command("kubectl", "apply", "--dry-run=server", "-f", str(EXAMPLE / name))

    assert refused.returncode == 1
    assert "spec.s3.path" in refused.stderr
    assert "bucket" in refused.stderr


@pytest.mark.parametrize(
    "written", [pytest.param(EXAMPLES, id="examples"), pytest.param(DOCUMENTED, id="documentation")]
)
def test_what_people_wrote_from_the_old_applies_field_by_field(
    box: Box, namespace: str, tmp_path: Path, written: tuple[dict[str, object], ...]
) -> None:
    (tmp_path / "old.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": written}))

    done = apply_all(box, tmp_path, namespace)

    assert done.count(" created") == len(written)
