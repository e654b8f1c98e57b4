"""The cluster that a pod runs in: its address from the environment, everything else from the mounted service account.

The address is used rather than `kubernetes.default.svc`, so that no DNS stands between the operator and the API server.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from etcd_operator.kube.connection import Connection
from etcd_operator.kube.credentials import Token
from etcd_operator.kube.errors import ConfigurationError
from etcd_operator.kube.tls import Trust
from etcd_operator.kube.watched_file import WatchedFile

SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")


def is_inside(environment: Mapping[str, str] = os.environ) -> bool:
    return bool(environment.get("KUBERNETES_SERVICE_HOST"))


def in_cluster(environment: Mapping[str, str] = os.environ, *, folder: Path = SERVICE_ACCOUNT) -> Connection:
    host, port = environment.get("KUBERNETES_SERVICE_HOST", ""), environment.get("KUBERNETES_SERVICE_PORT", "")
    if not (host and port):
        raise ConfigurationError(
            "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not both set, so this is no pod; "
            "say with KUBECONFIG which cluster is meant"
        )
    token = WatchedFile(folder / "token", role="service account's token")
    authority = WatchedFile(folder / "ca.crt", role="cluster's certificate authority")
    token.read()
    authority.read()
    return Connection(
        server=f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}",
        credentials=Token(token),
        trust=Trust(authority=authority),
        namespace=_namespace(folder),
    )


def _namespace(folder: Path) -> str:
    try:
        return (folder / "namespace").read_text().strip() or "default"
    except OSError:
        return "default"
