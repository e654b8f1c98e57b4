"""What etcd is told by variables: the operator's, then the user's, which win.

A user's variable that the command line also sets never gets there: etcd would end. Which those are is told to the user
by whoever writes the status; here they are only left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlsplit

from etcd_operator.api.cluster import EtcdCluster
from etcd_operator.api.pod_policy import KubernetesObject
from etcd_operator.kube.objects import Manifest
from etcd_operator.releases.variables import METRICS_PORT, ignored, variables

METRICS_URLS = "ETCD_LISTEN_METRICS_URLS"
LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})


def etcd_environment(cluster: EtcdCluster) -> list[Manifest]:
    theirs = _theirs(cluster)
    ours = variables([entry["name"] for entry in theirs])
    return [{"name": name, "value": value} for name, value in ours.items()] + [dict(entry) for entry in theirs]


def metrics_port(cluster: EtcdCluster) -> int | None:
    """Where the kubelet can ask about the member in plain text; None if the user's own listener is none for it."""
    theirs = next((entry for entry in _theirs(cluster) if entry["name"] == METRICS_URLS), None)
    return METRICS_PORT if theirs is None else _reachable_port(str(theirs.get("value", "")))


def _theirs(cluster: EtcdCluster) -> Sequence[KubernetesObject]:
    """Of two with one name the last counts, as it would in the container; an apply takes no two."""
    given = (cluster.spec.pod.etcd_env if cluster.spec.pod else None) or ()
    last = {entry["name"]: entry for entry in given}
    unwanted = ignored(last)
    return [entry for entry in given if entry is last[entry["name"]] and entry["name"] not in unwanted]


def _reachable_port(urls: str) -> int | None:
    try:
        found = [urlsplit(url.strip()) for url in urls.split(",")]
        ports = [url.port for url in found if url.scheme == "http" and url.hostname not in LOOPBACK]
    except ValueError:
        return None
    return next((port for port in ports if port), None)
