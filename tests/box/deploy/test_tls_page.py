"""The commands of the page about TLS, typed one after another as a reader would, and a client that uses the files."""

from __future__ import annotations

import base64
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from box.layout import REPOSITORY
from tests.box.api import definitions
from tests.box.deploy.shell import Shell, blocks, shell
from tests.box.driving import Box, Object, eventually

PAGE = REPOSITORY / "docs" / "tls.md"
SECRETS = {"etcd-peer-tls": "peer", "etcd-server-tls": "server", "etcd-client-tls": "etcd-client"}
FILES = "/certs/etcd-client"
ETCDCTL = (
    "etcdctl",
    "--endpoints=https://example-client:2379",
    f"--cacert={FILES}-ca.crt",
    f"--cert={FILES}.crt",
    f"--key={FILES}.key",
)


@pytest.fixture
def reader_at_home(box: Box, tmp_path: Path) -> Iterator[Shell]:
    """In the namespace `default`, which the certificates are for, beside an operator; in a copy of the tree."""
    definitions.install(box)
    shutil.copytree(REPOSITORY / "example", tmp_path / "example", ignore=shutil.ignore_patterns("*.crt", "*.key"))
    reader = shell(box, folder=tmp_path, namespace="default", scratch=tmp_path)
    operator = REPOSITORY / "deploy" / "install-namespaced.yaml"
    reader(f"kubectl apply -f {operator}")
    try:
        yield reader
    finally:
        reader(f"kubectl delete --ignore-not-found etcd/example pod/client {' '.join(f'secret/{s}' for s in SECRETS)}")
        reader(f"kubectl delete --ignore-not-found -f {operator}")


def client(script: str, image: str) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "client", "namespace": "default"},
        "spec": {
            "restartPolicy": "Never",
            "containers": [
                {
                    "name": "client",
                    "image": image,
                    "command": [*ETCDCTL, *script.split()],
                    "volumeMounts": [{"name": "certs", "mountPath": "/certs"}],
                }
            ],
            "volumes": [{"name": "certs", "secret": {"secretName": "etcd-client-tls"}}],
        },
    }


def members(box: Box) -> dict[str, tuple[str, int]]:
    """Each pod with what tells it from a successor, and how often it has restarted."""
    pods = json.loads(box.kubectl("get", "pods", "-n", "default", "-l", "etcd_cluster=example", "-o", "json"))["items"]
    counts = {pod["metadata"]["name"]: pod["status"]["containerStatuses"][0]["restartCount"] for pod in pods}
    return {pod["metadata"]["name"]: (pod["metadata"]["uid"], counts[pod["metadata"]["name"]]) for pod in pods}


def said_to(box: Box, script: str) -> str:
    """What etcdctl prints in a pod that has the client's secret and nothing else."""
    version = box.get("etcd", "example", "default")["spec"]["version"]
    box.apply(client(script, f"quay.io/coreos/etcd:v{version}"))
    try:
        ended = "--for=jsonpath={.status.phase}=Succeeded"
        box.kubectl("wait", "-n", "default", "pod/client", ended, "--timeout=60s")
        return box.kubectl("logs", "-n", "default", "client")
    finally:
        box.kubectl("delete", "pod", "client", "-n", "default", "--grace-period=0", "--force")


def test_the_page_makes_a_cluster_that_its_certificates_open(box: Box, reader_at_home: Shell) -> None:
    example, renewal = blocks(PAGE)

    reader_at_home(example)
    for secret, kind in SECRETS.items():
        stored = box.get("secret", secret, "default")["data"]
        assert set(stored) == {f"{kind}.crt", f"{kind}.key", f"{kind}-ca.crt"}
        assert base64.b64decode(stored[f"{kind}.crt"]).startswith(b"-----BEGIN CERTIFICATE-----")

    eventually(lambda: box.get("etcd", "example", "default")["status"]["membersReady"] == "3/3")
    assert said_to(box, "put greeting hello").strip() == "OK"
    assert said_to(box, "get greeting --print-value-only").strip() == "hello"

    before = members(box)
    reader_at_home(f"cd example/tls/certs\n{renewal}")
    assert said_to(box, "get greeting --print-value-only").strip() == "hello"
    assert members(box) == before
