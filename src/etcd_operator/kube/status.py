"""Writes a status, so that it is ours alone and exactly what we state.

As long as nobody else writes it, that is one request: the answer to an apply tells who owns what. Where others do, the
status is first made exactly what we state, then their claims to it are struck, then it is applied again. In this order
a crash after any of them leaves the claims, and with them the reason to do it again. Values and claims take a patch
each: the status subresource passes over claims, and the main one over the status.

The claims of an object whose spec the present schema refuses cannot be struck; its status is right all the same.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress

from etcd_operator.kube import requests
from etcd_operator.kube.answers import decoded
from etcd_operator.kube.errors import ConflictError, InvalidError
from etcd_operator.kube.objects import Manifest
from etcd_operator.kube.ownership import ClaimedObject, exactly, others_own_status, ours_alone
from etcd_operator.kube.requests import PatchKind, Request
from etcd_operator.kube.resources import Resource
from etcd_operator.kube.transport import Transport


async def write_status(
    transport: Transport, resource: Resource, manifest: Manifest, *, manager: str, deadline: float
) -> bytes:
    """The object as it is then; the manifest has its name, its namespace and all of its status."""
    writing = _Writing(transport, resource, manifest, manager=manager, deadline=deadline)
    while True:
        body, found = await writing.apply()
        if not others_own_status(found, manager=manager):
            return body
        with suppress(ConflictError):
            body, found = await writing.make_exact(found)
            try:
                await writing.strike_others(found)
            except InvalidError:
                return body


class _Writing:
    """One status on its way."""

    def __init__(
        self, transport: Transport, resource: Resource, manifest: Manifest, *, manager: str, deadline: float
    ) -> None:
        self._transport = transport
        self._manager = manager
        self._status = manifest.get("status", {})
        self._object = requests.path_of(resource, manifest)
        self._apply = requests.apply(resource, manifest, field_manager=manager, subresource="status")
        self._clock = asyncio.get_running_loop().time
        self._end = self._clock() + deadline

    async def apply(self) -> tuple[bytes, ClaimedObject]:
        try:
            body, found = await self._send(self._apply)
        except InvalidError:
            # An apply that removes a list which another owns too leaves null there, and a schema may refuse that.
            body, found = await self._send(requests.read(self._object))
            if not others_own_status(found, manager=self._manager):
                raise
        return body, found

    async def make_exact(self, found: ClaimedObject) -> tuple[bytes, ClaimedObject]:
        return await self._send(self._patch(self._apply.path, exactly(found, self._status)))

    async def strike_others(self, found: ClaimedObject) -> None:
        await self._send(self._patch(self._object, ours_alone(found, manager=self._manager)))

    def _patch(self, path: str, change: list[Manifest]) -> Request:
        return requests.patch(path, change, kind=PatchKind.JSON, query=(("fieldManager", self._manager),))

    async def _send(self, request: Request) -> tuple[bytes, ClaimedObject]:
        body = await self._transport.call(request, deadline=self._end - self._clock())
        return body, decoded(body, into=ClaimedObject, request=str(request))
