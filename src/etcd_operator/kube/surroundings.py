"""Which cluster a program is at, and who it is there to tell.

The order is the one that surprises least: what somebody named, then the cluster that we run in, then what kubectl on
this machine would take. (kubectl itself looks at the kubeconfig in the home folder before the pod's own cluster; an
operator that did so could be moved to another cluster by a file in its image.)
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from etcd_operator import __version__
from etcd_operator.kube.connection import Connection
from etcd_operator.kube.in_cluster import in_cluster, is_inside
from etcd_operator.kube.kubeconfig import from_kubeconfig


def find(
    *, kubeconfig: Path | None = None, context: str | None = None, environment: Mapping[str, str] = os.environ
) -> Connection:
    if in_pod(kubeconfig=kubeconfig, context=context, environment=environment):
        return in_cluster(environment)
    files = () if kubeconfig is None else (kubeconfig,)
    return from_kubeconfig(files=files, context=context, environment=environment)


def in_pod(*, kubeconfig: Path | None, context: str | None, environment: Mapping[str, str]) -> bool:
    """Whether the cluster is the one that we run in."""
    named = kubeconfig is not None or context is not None or bool(environment.get("KUBECONFIG"))
    return not named and is_inside(environment)


def user_agent(program: str) -> str:
    """What the API server's log and its audit show of us."""
    return f"etcd-operator/{__version__} ({program})"
