"""What the listener for metrics answers, asked as the kubelet does: in plain text, without certificates."""

from __future__ import annotations

import http.client

from etcd_operator.releases.variables import variables
from tests.etcd.servers import Server, status_at


def told(server: Server) -> dict[str, str]:
    """The operator's variables, with a listener that several servers on one machine can have."""
    return variables(metrics_url=f"http://{server.metrics}")


def answer(server: Server, path: str) -> int:
    """The HTTP status; 0 without an answer."""
    return status_at(http.client.HTTPConnection(server.metrics, timeout=10), path)
