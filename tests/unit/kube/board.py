"""Where events are posted: a name is taken once, and of an event only the series can be changed.

It stands behind the same protocol as the client; what a real API server accepts is in tests/box/kube.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from etcd_operator.kube.errors import AlreadyExistsError, KubeError, NotFoundError, UnreachableError
from etcd_operator.kube.requests import PatchKind
from etcd_operator.kube.resources import EVENTS, Resource


class Board:
    def __init__(self) -> None:
        self.events: dict[str, dict[str, Any]] = {}
        self.calls: list[tuple[float, str]] = []
        self.refusal: KubeError | None = None
        self.loses_answers = False
        self.hangs = False
        self.takes = 0.0

    @property
    def only(self) -> dict[str, Any]:
        (event,) = self.events.values()
        return event

    async def create(self, resource: Resource, manifest: dict[str, Any], /, *, deadline: float) -> dict[str, Any]:
        await self._call("create", resource, deadline)
        name = manifest["metadata"]["name"]
        if name in self.events:
            raise AlreadyExistsError("the name is taken", status=409)
        self.events[name] = manifest
        return self._answered(manifest)

    async def patch(
        self,
        resource: Resource,
        name: str,
        patch: Mapping[str, Any],
        /,
        *,
        kind: PatchKind,
        namespace: str,
        deadline: float,
    ) -> dict[str, Any]:
        await self._call("patch", resource, deadline)
        assert set(patch) == {"series"}
        if name not in self.events:
            raise NotFoundError("it has expired", status=404)
        assert self.events[name]["metadata"]["namespace"] == namespace
        self.events[name] = {**self.events[name], **patch}
        return self._answered(self.events[name])

    async def _call(self, what: str, resource: Resource, deadline: float) -> None:
        assert resource == EVENTS
        self.calls.append((asyncio.get_running_loop().time(), what))
        if self.hangs:
            await asyncio.sleep(deadline)
            raise UnreachableError(f"no answer within {deadline} s")
        await asyncio.sleep(self.takes)
        if self.refusal is not None:
            raise self.refusal

    def _answered(self, event: dict[str, Any]) -> dict[str, Any]:
        if self.loses_answers:
            raise UnreachableError("the answer never came")
        return event
