"""The lock of the old operator, which must not be at work beside this one.

It kept a record in an annotation of the Endpoints object `etcd-operator` and renewed it every two seconds, for fifteen;
it never gave it back. As clocks disagree, what counts is whether the record changes while we look; a record that was
renewed more than an hour ago by any clock is that of an operator long gone, and nobody waits for it.

The lock is only looked at, never written or deleted: the old operator can be started again as it was, and then it is
this one that makes room.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import NoReturn, Protocol

import msgspec

from etcd_operator.kube.backoff import Backoff
from etcd_operator.kube.errors import ForbiddenError, KubeError, NotFoundError
from etcd_operator.kube.objects import PartialObject
from etcd_operator.kube.resources import ENDPOINTS, Resource

log = logging.getLogger(__name__)

NAME = "etcd-operator"
ANNOTATION = "control-plane.alpha.kubernetes.io/leader"
DURATION = 15
LONG_AGO = timedelta(hours=1)
LOOK_SECONDS = 2.0
LEADING_LOOK_SECONDS = 10.0
BACKOFF = Backoff(first=1.0, cap=30.0)


class OldOperatorError(Exception):
    """An old operator has begun to work beside this one: let this process end, and wait its turn as a new one."""


class Record(msgspec.Struct, frozen=True, rename="camel"):
    holder_identity: str = ""
    lease_duration_seconds: int = DURATION
    renew_time: str = ""


def read(text: str) -> Record:
    """One that cannot be read says nothing but that it is there; who wrote it may be alive."""
    try:
        return msgspec.json.decode(text, type=Record)
    except msgspec.DecodeError:
        return Record(holder_identity="somebody")


class Judgement:
    """Whether somebody keeps the record fresh, as far as can be told from when it was seen to change."""

    def __init__(self) -> None:
        self._text = ""
        self._since = 0.0

    def holder(self, text: str, *, now: float, today: datetime) -> str:
        """Who may be at work; empty if nobody. `now` is any clock that only goes forward, `today` the calendar."""
        if text != self._text:
            self._text, self._since = text, now
        record = read(text) if text else Record()
        if now - self._since >= (record.lease_duration_seconds or DURATION) or _long_ago(record.renew_time, today):
            return ""
        return record.holder_identity


def _long_ago(renewed: str, today: datetime) -> bool:
    try:
        when = datetime.fromisoformat(renewed)
    except ValueError:
        return False
    return when.tzinfo is not None and today - when > LONG_AGO


class EndpointsCalls(Protocol):
    """What is needed of a Kubernetes client."""

    async def get(
        self, resource: Resource, name: str, /, *, namespace: str, into: type[PartialObject]
    ) -> PartialObject: ...


class OldLock:
    def __init__(self, client: EndpointsCalls, namespace: str) -> None:
        self._client = client
        self._namespace = namespace
        self._judgement = Judgement()

    async def until_free(self, tell: Callable[[str], None]) -> None:
        """Returns when no old operator can be at work; `tell` hears for what it waits, when that changes."""
        told, failures = "", 0
        while True:
            try:
                holder = await self.look()
                failures = 0
                why = self._held_by(holder)
            except KubeError as error:
                holder, failures = "?", failures + 1
                why = self._unknown(error)
            if not holder:
                return
            if why != told:
                tell(why)
                told = why
            await asyncio.sleep(BACKOFF.delay(failures, random.uniform) or LOOK_SECONDS)

    async def watched(self) -> NoReturn:
        """Raises OldOperatorError as soon as one is seen that was not there before."""
        while True:
            await asyncio.sleep(LEADING_LOOK_SECONDS)
            try:
                holder = await self.look()
            except KubeError as error:
                log.debug("Whether an old operator has begun to work could not be seen: %s", error)
                continue
            if holder:
                raise OldOperatorError(
                    f"The old operator {holder} has taken the lock on the Endpoints {self._namespace}/{NAME}: "
                    "two operators must not work on the same clusters, so this one ends."
                )

    async def look(self) -> str:
        """Who may be at work; the earlier the first look, the sooner is known that a record has not changed since."""
        try:
            found = await self._client.get(ENDPOINTS, NAME, namespace=self._namespace, into=PartialObject)
        except NotFoundError:
            text = ""
        else:
            text = found.metadata.annotations.get(ANNOTATION, "")
        return self._judgement.holder(text, now=asyncio.get_running_loop().time(), today=datetime.now(UTC))

    def _held_by(self, holder: str) -> str:
        return (
            f"The old operator {holder} holds the lock on the Endpoints {self._namespace}/{NAME}; "
            "nothing is done until it has ended"
        )

    def _unknown(self, error: KubeError) -> str:
        asked = f"The Endpoints {self._namespace}/{NAME}, where an old operator would have its lock, cannot be read"
        if isinstance(error, ForbiddenError):
            return f"{asked}: the service account lacks the right to get endpoints; nothing is done until it has it"
        return f"{asked}: {error}; nothing is done until it can"
