"""Where a program runs, as far as it must know: which cluster, which namespace, and what it is called there.

In a pod the two variables that the old programs required are required still: a namespace that is guessed wrong would
have the lease somewhere else, and two operators would lead. Outside of a cluster there is no pod, and a kubeconfig and
a flag take their place.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from etcd_operator.kube import surroundings
from etcd_operator.kube.connection import Connection
from etcd_operator.kube.errors import ConfigurationError

NAMESPACE = "MY_POD_NAMESPACE"
NAME = "MY_POD_NAME"
FIELDS = {NAMESPACE: "metadata.namespace", NAME: "metadata.name"}


class PlaceError(Exception):
    """Not enough is known to begin; the sentence says what is missing, and where to say it."""


@dataclass(frozen=True)
class Pod:
    """The one that we are."""

    namespace: str
    name: str


@dataclass(frozen=True, kw_only=True)
class Place:
    connection: Connection
    namespace: str  # where the lease is, and where clusters are looked after unless everywhere
    name: str  # of this process, for people
    pod: Pod | None  # outside of a cluster there is none


def find(
    *,
    kubeconfig: Path | None = None,
    context: str | None = None,
    namespace: str | None = None,
    environment: Mapping[str, str] = os.environ,
) -> Place:
    pod = None
    if surroundings.in_pod(kubeconfig=kubeconfig, context=context, environment=environment):
        pod = Pod(_required(NAMESPACE, environment), _required(NAME, environment))
    try:
        connection = surroundings.find(kubeconfig=kubeconfig, context=context, environment=environment)
    except ConfigurationError as error:
        raise PlaceError(f"No way to a Kubernetes cluster: {error}") from error
    return Place(
        connection=connection,
        namespace=namespace or (pod.namespace if pod else connection.namespace),
        name=pod.name if pod else socket.gethostname(),
        pod=pod,
    )


def _required(variable: str, environment: Mapping[str, str]) -> str:
    value = environment.get(variable, "")
    if not value:
        raise PlaceError(
            f"The environment variable {variable} is not set. "
            f"In a pod it is needed: let its manifest take it from the field {FIELDS[variable]}."
        )
    return value
