"""What must be known and be there before a cluster can be looked after.

Nothing of it gives up: the API server may be away, a right may be missing, and both may be mended at any time. Each
failure is told when it is another one than before.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeVar

from etcd_operator.api.cluster import EtcdCluster
from etcd_operator.api.crd import definition
from etcd_operator.api.kinds import KINDS
from etcd_operator.api.names import CRD_REVISION
from etcd_operator.cli.logs import about
from etcd_operator.cli.place import Pod
from etcd_operator.kube import crds, projections
from etcd_operator.kube.backoff import Backoff
from etcd_operator.kube.client import Client
from etcd_operator.kube.errors import KubeError, NotFoundError
from etcd_operator.kube.resources import LEASES, PODS

log = logging.getLogger(__name__)

CONTAINER = "etcd-operator"
BACKOFF = Backoff(first=1.0, cap=30.0)

T = TypeVar("T")


class StartError(Exception):
    """Something that no waiting mends; the sentence says what to do."""


async def persistently(
    attempt: Callable[[], Awaitable[T]], *, what: str, tell: Callable[[str], None], backoff: Backoff = BACKOFF
) -> T:
    """Tries until it succeeds."""
    failures, told = 0, ""
    while True:
        try:
            return await attempt()
        except KubeError as error:
            failures += 1
            sentence = f"{what}: {error}"
            if sentence != told:
                tell(sentence)
                told = sentence
            await asyncio.sleep(backoff.delay(failures, random.uniform))


async def reached(client: Client, *, namespace: str, lease: str, tell: Callable[[str], None]) -> None:
    """Returns when the API server has answered, about the very object that everything else hangs on."""

    async def look() -> None:
        with suppress(NotFoundError):
            await client.get(LEASES, lease, namespace=namespace)

    await persistently(look, what=f"The lease {namespace}/{lease} cannot be read", tell=tell)


async def own_image(client: Client, pod: Pod, *, tell: Callable[[str], None]) -> str:
    """The image that this process itself runs from: what members' guards run from too."""
    found = await persistently(
        lambda: client.get(PODS, pod.name, namespace=pod.namespace, into=projections.Pod),
        what=f"The pod {pod.namespace}/{pod.name}, which this process runs in, cannot be read",
        tell=tell,
    )
    return image_of(found)


def image_of(pod: projections.Pod) -> str:
    """As the pod's manifest names it; of several containers, that of the one with the operator's name."""
    containers = pod.spec.containers
    if len(containers) > 1:
        containers = tuple(container for container in containers if container.name == CONTAINER)
    if len(containers) != 1:
        raise StartError(
            f"Which container of the pod {pod.metadata.name} is the operator's cannot be told, as none of several "
            f"is called {CONTAINER}: say with --operator-image which image members' guards are to run from."
        )
    return containers[0].image


async def define(client: Client, *, tell: Callable[[str], None]) -> None:
    """The definition of EtcdCluster, as this operator knows it or newer; the other kinds belong to other programs."""
    manifest = definition(next(kind for kind in KINDS if kind.type is EtcdCluster))
    name = manifest["metadata"]["name"]
    outcome = await persistently(
        lambda: crds.ensure(client, manifest, revision_key=CRD_REVISION),
        what=f"The definition {name} cannot be brought up to date",
        tell=tell,
    )
    log.info("The definition %s: %s", name, outcome.value, extra=about(definition=name))
