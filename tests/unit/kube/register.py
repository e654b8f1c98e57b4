"""The one Lease that candidates fight for: an object with a version that refuses writes based on an older one.

It stands behind the same protocol as the client; what a real API server does with the same calls is in tests/box/kube.
Calls take time and may be lost on the way there or on the way back, which is what an election has to be right about.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from etcd_operator.kube.errors import (
    AlreadyExistsError,
    ConflictError,
    DeadlineExceededError,
    NotFoundError,
    UnreachableError,
)
from etcd_operator.kube.resources import Resource


class Register:
    """What the server has."""

    def __init__(self) -> None:
        self.lease: dict[str, Any] | None = None
        self.version = 0
        self.writers: list[str] = []

    @property
    def spec(self) -> dict[str, Any]:
        assert self.lease is not None
        spec: dict[str, Any] = self.lease["spec"]
        return spec

    def read(self) -> dict[str, Any]:
        if self.lease is None:
            raise NotFoundError("no such lease", status=404)
        return self.lease

    def write(self, lease: dict[str, Any]) -> dict[str, Any]:
        given = lease["metadata"].get("resourceVersion")
        if given is None and self.lease is not None:
            raise AlreadyExistsError("it is there already", status=409)
        if given is not None and self.lease is None:
            raise NotFoundError("no such lease", status=404)
        if given is not None and given != str(self.version):
            raise ConflictError("it has been modified", status=409)
        self.version += 1
        self.writers.append(lease["spec"]["holderIdentity"])
        self.lease = {**lease, "metadata": {**lease["metadata"], "resourceVersion": str(self.version)}}
        return self.lease


@dataclass
class Wire:
    """One candidate's way to the register; what is true of it may change at any moment."""

    register: Register
    there: float = 0.0  # seconds until a call has its effect
    back: float = 0.0  # seconds until the answer is there
    cut_there: bool = False  # calls never arrive
    cut_back: bool = False  # they do, and the answers never

    async def get(self, resource: Resource, name: str, /, *, namespace: str, deadline: float) -> dict[str, Any]:
        return await self._call(self.register.read, deadline)

    async def create(self, resource: Resource, manifest: dict[str, Any], /, *, deadline: float) -> dict[str, Any]:
        return await self._call(lambda: self.register.write(manifest), deadline)

    async def update(self, resource: Resource, manifest: dict[str, Any], /, *, deadline: float) -> dict[str, Any]:
        return await self._call(lambda: self.register.write(manifest), deadline)

    async def _call(self, effect: Callable[[], dict[str, Any]], deadline: float) -> dict[str, Any]:
        # A call that was given up may still have its effect, so it goes on without its caller.
        call = asyncio.create_task(self._travel(effect))
        call.add_done_callback(lambda task: task.cancelled() or task.exception())
        done, _ = await asyncio.wait({call}, timeout=deadline)
        if not done:
            raise DeadlineExceededError(f"no answer within {deadline} s")
        return call.result()

    async def _travel(self, effect: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        await asyncio.sleep(self.there)
        if self.cut_there:
            raise UnreachableError("the call never arrived", sent=False)
        answer = effect()
        await asyncio.sleep(self.back)
        if self.cut_back:
            raise UnreachableError("the answer never came")
        return answer
