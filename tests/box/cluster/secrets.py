"""The secrets of a cluster with TLS, from the nine files that the script of the examples makes."""

from __future__ import annotations

import subprocess
from pathlib import Path

from box.layout import REPOSITORY
from tests.box.driving import Box

SCRIPT = REPOSITORY / "example" / "tls" / "certs" / "gen-cert.sh"
NAMES = {"etcd-peer-tls": "peer", "etcd-server-tls": "server", "etcd-client-tls": "etcd-client"}
TLS = {
    "static": {
        "member": {"peerSecret": "etcd-peer-tls", "serverSecret": "etcd-server-tls"},
        "operatorSecret": "etcd-client-tls",
    }
}


def make_files(folder: Path, *, cluster: str, namespace: str) -> None:
    argv = [str(SCRIPT), f"--cluster={cluster}", f"--namespace={namespace}"]
    subprocess.run(argv, cwd=folder, check=True, capture_output=True, text=True, timeout=60)


def create(box: Box, name: str, *, folder: Path, namespace: str) -> None:
    kind = NAMES[name]
    files = (f"--from-file={folder / f'{kind}{end}'}" for end in (".crt", ".key", "-ca.crt"))
    box.kubectl("create", "secret", "generic", name, "-n", namespace, *files)


def create_all(box: Box, *, folder: Path, cluster: str, namespace: str) -> None:
    make_files(folder, cluster=cluster, namespace=namespace)
    for name in NAMES:
        create(box, name, folder=folder, namespace=namespace)
