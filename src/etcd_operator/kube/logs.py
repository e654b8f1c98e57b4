"""What a container writes, line by line.

A quiet container is nothing unusual, so nothing is concluded from silence while following; that the other side is still
there is left to TCP, which the transport has ask every half minute.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from datetime import datetime

import msgspec

from etcd_operator.kube.client import Client
from etcd_operator.kube.requests import Query, Request
from etcd_operator.kube.resources import PODS
from etcd_operator.kube.transport import CALL_SECONDS
from etcd_operator.kube.watch import Lines

SILENCE = 30.0  # of a log that is not followed


class LogOptions(msgspec.Struct, frozen=True):
    """Which part of a log; the defaults mean all of it."""

    container: str = ""  # needed where a pod has several
    previous: bool = False  # of the container's life before its last restart
    follow: bool = False
    tail: int | None = None  # lines
    since: datetime | float | None = None  # a moment, or so many seconds ago
    timestamps: bool = False

    @property
    def query(self) -> Query:
        given: list[tuple[str, str]] = []
        if self.container:
            given.append(("container", self.container))
        given += [(word, "true") for word in ("previous", "follow", "timestamps") if getattr(self, word)]
        if self.tail is not None:
            given.append(("tailLines", str(self.tail)))
        if isinstance(self.since, datetime):
            if self.since.tzinfo is None:
                raise ValueError("the moment that a log is to begin at needs a time zone")
            given.append(("sinceTime", self.since.isoformat(timespec="seconds")))
        elif self.since is not None:
            given.append(("sinceSeconds", str(max(1, round(self.since)))))
        return tuple(given)


async def logs(
    client: Client,
    pod: str,
    *,
    namespace: str,
    options: LogOptions | None = None,
    deadline: float = CALL_SECONDS,
) -> AsyncGenerator[str, None]:
    """The lines, without their ends; the deadline is for the beginning."""
    options = options or LogOptions()
    path = PODS.path(namespace=namespace, name=pod, subresource="log")
    request = Request("GET", path, query=options.query, accept="*/*")
    lines = Lines()
    async with client.transport.stream(request, deadline=deadline) as response:
        silence = None if options.follow else SILENCE
        async with aclosing(client.transport.chunks(request, response, silence=silence)) as chunks:
            async for chunk in chunks:
                for line in lines.feed(chunk):
                    yield line.decode(errors="replace")
    if lines.rest:
        yield lines.rest.decode(errors="replace")
