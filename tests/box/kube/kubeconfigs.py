"""Kubeconfigs that the tests write, for the box's API server as somebody else than its administrator."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

from tests.box.driving import Box

Entry = dict[str, Any]


class Admin:
    """What the box's own kubeconfig has."""

    def __init__(self, box: Box) -> None:
        config = json.loads(box.layout.kubeconfig.read_text())
        self.cluster: Entry = config["clusters"][0]["cluster"]
        self._user: Entry = config["users"][0]["user"]

    @property
    def server(self) -> str:
        return str(self.cluster["server"])

    @property
    def authority(self) -> bytes:
        return base64.b64decode(self.cluster["certificate-authority-data"])

    @property
    def certificate(self) -> bytes:
        return base64.b64decode(self._user["client-certificate-data"])

    @property
    def key(self) -> bytes:
        return base64.b64decode(self._user["client-key-data"])


def write_kubeconfig(folder: Path, *, cluster: Entry, user: Entry) -> Path:
    file = folder / "config"
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u", "namespace": "elsewhere"}}],
        "clusters": [{"name": "c", "cluster": cluster}],
        "users": [{"name": "u", "user": user}],
    }
    file.write_text(json.dumps(config))
    return file


def new_token(box: Box, namespace: str, account: str = "default") -> str:
    """A real one, of a service account that may read config maps in its namespace, and nothing else."""
    for word, rest in (
        ("role", ("--verb=get,list,create", "--resource=configmaps")),
        ("rolebinding", ("--role=notes", f"--serviceaccount={namespace}:{account}")),
    ):
        manifest = box.kubectl("create", word, "notes", *rest, "-n", namespace, "--dry-run=client", "-o", "json")
        box.kubectl("apply", "-f", "-", given=manifest)
    return box.kubectl("create", "token", account, "-n", namespace, "--duration=10m").strip()
