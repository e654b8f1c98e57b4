"""Clusters with certificates: between members, for clients, and for the operator."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.box.cluster import secrets
from tests.box.cluster.clusters import Cluster
from tests.box.cluster.conftest import Make
from tests.box.cluster.versions import V32, V35, V36
from tests.box.driving import Box, CommandFailedError


def test_a_cluster_with_certificates_serves_grows_heals_and_is_upgraded(
    etcd: Make, box: Box, namespace: str, tmp_path: Path
) -> None:
    secrets.create_all(box, folder=tmp_path, cluster="demo", namespace=namespace)
    cluster = etcd(size=3, version=V35, TLS=secrets.TLS)
    before = cluster.settled()
    assert {url.partition(":")[0] for one in cluster.console.members() for url in one.urls} == {"https"}
    cluster.console.begin_writing()

    cluster.delete_pod(before[0])
    cluster.settled(without=[before[0]])
    cluster.change(size=5)
    cluster.settled()
    cluster.change(version=V36)
    cluster.settled(within=300)

    report = cluster.console.end_writing()
    assert report.lost == []
    assert report.acknowledged > 100


def test_the_version_of_the_old_documentation_works_with_certificates_too(
    etcd: Make, box: Box, namespace: str, tmp_path: Path
) -> None:
    secrets.create_all(box, folder=tmp_path, cluster="demo", namespace=namespace)
    cluster = etcd(size=3, version=V32, TLS=secrets.TLS)
    before = cluster.settled(within=240)
    cluster.put("key", "value")

    cluster.delete_pod(before[0])
    cluster.settled(without=[before[0]], within=240)

    assert cluster.get("key") == "value"


def test_a_client_without_a_certificate_gets_nothing(etcd: Make, box: Box, namespace: str, tmp_path: Path) -> None:
    secrets.create_all(box, folder=tmp_path, cluster="demo", namespace=namespace)
    cluster = etcd(size=1, TLS=secrets.TLS)
    [member] = cluster.settled()
    address = cluster.pods[member]["status"]["podIP"]

    for options in (["-k"], ["--cacert", str(tmp_path / "server-ca.crt")]):
        with pytest.raises(CommandFailedError):
            box("run", "--", "curl", "-sS", "--max-time", "5", *options, f"https://{address}:2379/version")
    with pytest.raises(CommandFailedError):
        box("run", "--", "curl", "-sS", "--max-time", "5", f"http://{address}:2379/version")


def test_a_secret_that_is_created_late_is_waited_for(etcd: Make, box: Box, namespace: str, tmp_path: Path) -> None:
    secrets.make_files(tmp_path, cluster="demo", namespace=namespace)
    cluster = etcd(size=3, TLS=secrets.TLS)

    for name in secrets.NAMES:
        message = said_of(cluster, name)
        assert f"kubectl create secret generic {name} -n {namespace}" in message
        secrets.create(box, name, folder=tmp_path, namespace=namespace)

    cluster.settled()
    cluster.put("key", "value")


def said_of(cluster: Cluster, secret: str) -> str:
    def message() -> str:
        said: str = cluster.condition("Ready")["message"]
        return said if f"Secret {secret} is not there" in said else ""

    return str(cluster.until(message, within=60))
