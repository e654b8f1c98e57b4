"""The life of the process `etcd-operator`, from its first look at the cluster to the end: where everything is wired.

Probes and metrics are served from the beginning, so that one who waits can say for what. Then the lease; whoever has it
makes sure that no old operator is at work, brings the definition of EtcdCluster up to date, and lets the loops run.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack, suppress
from typing import Any

import click

from etcd_operator import __version__
from etcd_operator.api.names import GROUP
from etcd_operator.cli import ending, logs, startup
from etcd_operator.cli.command_line import CommandLine
from etcd_operator.cli.go_flags import RetiredFlag
from etcd_operator.cli.logs import about
from etcd_operator.cli.narration import Narration
from etcd_operator.cli.old_lock import OldLock, OldOperatorError
from etcd_operator.cli.place import Place, PlaceError, Pod
from etcd_operator.cli.place import find as find_place
from etcd_operator.cluster.controller import Controller, Settings
from etcd_operator.cluster.images import Images
from etcd_operator.etcd.pool import Pool
from etcd_operator.kube.client import Client
from etcd_operator.kube.errors import KubeError
from etcd_operator.kube.events import Reporter
from etcd_operator.kube.lease import Election, LeaseLostError, unique_identity
from etcd_operator.kube.recorder import Recorder
from etcd_operator.kube.surroundings import user_agent
from etcd_operator.web import lag
from etcd_operator.web.health import Health, Phase
from etcd_operator.web.metrics import Metrics
from etcd_operator.web.server import Address, ListenError, serving

log = logging.getLogger(__name__)

PROGRAM = "etcd-operator"
EXPECTED = (LeaseLostError, ListenError, OldOperatorError, startup.StartError)


def operate(line: CommandLine, retired: tuple[RetiredFlag, ...] = ()) -> int:
    """Runs until a signal or an error ends it, and returns the exit code."""
    logs.begin(format=logs.Format(line.log_format) if line.log_format else None, level=logs.Level(line.log_level))
    for flag in retired:
        log.warning("The flag -%s does nothing any more: %s", flag.name, flag.sentence)
    try:
        address = Address.read(line.listen_addr)
        place = find_place(kubeconfig=line.kubeconfig, context=line.context, namespace=line.namespace)
    except ValueError as error:
        raise click.UsageError(f"--listen-addr: {error}.") from error
    except PlaceError as error:
        log.error("%s", error)
        return 1
    image = line.operator_image or place.pod
    if image is None:
        raise click.UsageError(
            "Outside of a pod, --operator-image must say from which image members' pods run the check of their disk."
        )
    return ending.run(Operator(line, place=place, address=address, image=image).run, expected=EXPECTED)


class Operator:
    """`image` is the operator's own, or the pod that runs from it."""

    def __init__(self, line: CommandLine, *, place: Place, address: Address, image: str | Pod) -> None:
        self._line = line
        self._place = place
        self._address = address
        self._image = image
        self._health = Health()
        self._metrics = Metrics(version=__version__)

    async def run(self) -> None:
        """Until cancelled, or until there is a reason to begin anew as another process."""
        place, metrics = self._place, self._metrics
        identity = unique_identity(place.name)
        log.info("%s %s begins", PROGRAM, __version__, extra=about(namespace=place.namespace, identity=identity))
        async with AsyncExitStack() as stack:
            enter = stack.enter_async_context
            address = await enter(serving(self._address, health=self._health, metrics=metrics.exposed))
            log.info("Probes and metrics are at %s", address)
            await enter(lag.measured(metrics.lagged))
            client = await enter(Client(place.connection, user_agent=user_agent(PROGRAM), listener=metrics.called))
            starting = self._waiting(Phase.STARTING)
            await startup.reached(client, namespace=place.namespace, lease=PROGRAM, tell=starting)
            images = await self._images(client, starting)
            lock = OldLock(client, place.namespace)
            with suppress(KubeError):
                await lock.look()
            self._enter(Phase.STANDING_BY, "waiting for the lease")
            recorder = await enter(Recorder(client, Reporter(f"{GROUP}/{PROGRAM}", identity)))
            pool = await enter(Pool())
            election = Election(client, namespace=place.namespace, name=PROGRAM, identity=identity)
            narration = Narration(metrics=metrics, health=self._health)
            controller = Controller(
                client,
                pool=pool,
                recorder=recorder,
                election=election,
                settings=self._settings(images),
                report=narration.turned,
                forget=narration.forget,
            )
            metrics.follow(controller.loops, recorder.counts)
            self._health.follow(lambda: controller.loops.backlog().longest)
            await election.lead(lambda: self._lead(client, lock, controller))

    async def _images(self, client: Client, tell: Callable[[str], None]) -> Images:
        image = self._image
        if isinstance(image, Pod):
            image = await startup.own_image(client, image, tell=tell)
        return Images(operator=image, etcd_repository=self._line.etcd_repository)

    def _settings(self, images: Images) -> Settings:
        wide = self._line.cluster_wide
        return Settings(namespace=None if wide else self._place.namespace, cluster_wide=wide, images=images)

    async def _lead(self, client: Client, lock: OldLock, controller: Controller) -> None:
        try:
            await lock.until_free(self._waiting(Phase.STANDING_BY))
            self._enter(Phase.PREPARING)
            if self._line.create_crd:
                await startup.define(client, tell=self._waiting(Phase.PREPARING))
            self._metrics.leads(yes=True)
            await _first_to_end(controller.run(), lock.watched(), self._tell_when_seen(controller))
        finally:
            self._enter(Phase.ENDING)
            self._metrics.leads(yes=False)

    async def _tell_when_seen(self, controller: Controller) -> None:
        """Ready only when everything there is has been seen once: a right that is missing keeps it from that."""
        await controller.synced.wait()
        self._enter(Phase.LEADING)
        await asyncio.get_running_loop().create_future()

    def _enter(self, phase: Phase, why: str = "") -> None:
        self._health.enter(phase, why)
        log.info("%s", self._health.ready().text)

    def _waiting(self, phase: Phase) -> Callable[[str], None]:
        def tell(why: str) -> None:
            self._health.enter(phase, why)
            log.warning("%s", why)

        return tell


async def _first_to_end(*works: Coroutine[Any, Any, None]) -> None:
    """Does all at once until one has ended, with its error if it has one; the others are cancelled and awaited."""
    tasks = [asyncio.create_task(work) for work in works]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
