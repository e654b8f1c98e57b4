"""Tells of each turn: to the log, to the metrics, and to the probes.

A turn that says the same as the one before it is no news: a cluster at rest is looked at every few seconds, and a log
full of that hides what matters. So it is logged when step, reason or error are others than before.
"""

from __future__ import annotations

import logging

from etcd_operator.cli.logs import about
from etcd_operator.cluster.turned import Turned
from etcd_operator.kube.store import Key
from etcd_operator.web.health import Health
from etcd_operator.web.metrics import Metrics

log = logging.getLogger(__name__)

Said = tuple[str, str, str | None]


class Narration:
    def __init__(self, *, metrics: Metrics, health: Health) -> None:
        self._metrics = metrics
        self._health = health
        self._said: dict[Key, Said] = {}

    def turned(self, turned: Turned) -> None:
        self._health.turned()
        self._metrics.turned(
            turned.key, status=turned.status, step=turned.step, seconds=turned.seconds, error=turned.error
        )
        said = (turned.step, turned.why, turned.error)
        log.log(
            _level(turned, news=self._said.get(turned.key) != said),
            "%s",
            _sentence(turned),
            extra=about(
                namespace=turned.key.namespace,
                name=turned.key.name,
                step=turned.step,
                **({"error": turned.error} if turned.error else {}),
                seconds=round(turned.seconds, 3),
            ),
        )
        self._said[turned.key] = said

    def forget(self, key: Key) -> None:
        if self._said.pop(key, None) is not None:
            log.info("The cluster is gone", extra=about(namespace=key.namespace, name=key.name))
        self._metrics.forget(key)


def _sentence(turned: Turned) -> str:
    """Why a step was taken; of a turn that failed, first that it did."""
    if not turned.error:
        return turned.why
    what = f"{turned.step or 'The turn'} failed, {turned.error}"
    told = turned.trouble or turned.why
    return f"{what}: {told}" if told else what


def _level(turned: Turned, *, news: bool) -> int:
    if not news:
        return logging.DEBUG
    return logging.WARNING if turned.error else logging.INFO
