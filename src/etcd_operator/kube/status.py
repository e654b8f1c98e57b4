"""Writes a status, so that it is ours alone and exactly what we state.

As long as nobody else writes it, that is one request: the answer to an apply tells who owns what. Where others do, the
status is first made exactly what we state, then their claims to it are struck, then it is applied again. In this order
a crash after any of them leaves the claims, and with them the reason to do it again. Values and claims take a patch
each: the status subresource passes over claims, and the main one over the status.

The claims of an object whose spec the present schema refuses cannot be struck; its status is right all the same.

A manifest with a resource version is written only if the object still has it, else ConflictError. What is written here
in between is our own, and does not count.
"""

from __future__ import annotations

import asyncio

import msgspec

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
    given = manifest.get("metadata", {}).get("resourceVersion")
    version = given
    while True:
        body, found = await writing.apply(version)
        if not others_own_status(found, manager=manager):
            return body
        try:
            body, found = await writing.make_exact(found)
            _, found = await writing.strike_others(found)
        except InvalidError:
            return body
        except ConflictError:
            if given:
                raise
        version = found.metadata.resource_version if given else None


class _Writing:
    """One status on its way."""

    def __init__(
        self, transport: Transport, resource: Resource, manifest: Manifest, *, manager: str, deadline: float
    ) -> None:
        self._transport = transport
        self._manager = manager
        self._status = manifest.get("status", {})
        self._object = requests.path_of(resource, manifest)
        self._resource = resource
        self._manifest = manifest
        self._clock = asyncio.get_running_loop().time
        self._end = self._clock() + deadline

    async def apply(self, version: str | None) -> tuple[bytes, ClaimedObject]:
        metadata = {**self._manifest["metadata"], **({"resourceVersion": version} if version else {})}
        manifest = {**self._manifest, "metadata": metadata}
        request = requests.apply(self._resource, manifest, field_manager=self._manager, subresource="status")
        try:
            body, found = await self._send(request)
        except InvalidError:
            # An apply that removes a list which another owns too leaves null there, and a schema may refuse that.
            body, found = await self._send(requests.read(self._object))
            if not others_own_status(found, manager=self._manager):
                raise
            if version:
                as_given = msgspec.structs.replace(found.metadata, resource_version=version)
                found = msgspec.structs.replace(found, metadata=as_given)
        return body, found

    async def make_exact(self, found: ClaimedObject) -> tuple[bytes, ClaimedObject]:
        path = requests.path_of(self._resource, self._manifest, subresource="status")
        return await self._send(self._patch(path, exactly(found, self._status)))

    async def strike_others(self, found: ClaimedObject) -> tuple[bytes, ClaimedObject]:
        return await self._send(self._patch(self._object, ours_alone(found, manager=self._manager)))

    def _patch(self, path: str, change: list[Manifest]) -> Request:
        return requests.patch(path, change, kind=PatchKind.JSON, query=(("fieldManager", self._manager),))

    async def _send(self, request: Request) -> tuple[bytes, ClaimedObject]:
        body = await self._transport.call(request, deadline=self._end - self._clock())
        return body, decoded(body, into=ClaimedObject, request=str(request))
