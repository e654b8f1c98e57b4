"""The calls of the Kubernetes API, one thin method each.

What is asked is decided in `requests`, how it is sent in `transport`, what comes back in `answers` and `watch`. Every
call has a deadline in seconds, for all of it together. `into` is the type that the answer is decoded straight into:
a struct with the fields of interest, or a dict (the default) with everything. What can go wrong is in `errors`.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from types import TracebackType
from typing import Any

from etcd_operator.kube import answers, requests
from etcd_operator.kube.answers import Listing, Page
from etcd_operator.kube.budget import Budget
from etcd_operator.kube.calls import Listener
from etcd_operator.kube.connection import Connection
from etcd_operator.kube.errors import GoneError
from etcd_operator.kube.objects import DICT, Manifest, T
from etcd_operator.kube.requests import Body, PatchKind, Request, Selection
from etcd_operator.kube.resources import Resource
from etcd_operator.kube.status import write_status
from etcd_operator.kube.transport import CALL_SECONDS, Transport
from etcd_operator.kube.watch import Change, EventDecoder, Lines

PAGE = 500
PAGE_SECONDS = 30.0
LIST_TRIES = 3


class Client:
    """One API server, as one user; an async context manager."""

    def __init__(
        self,
        connection: Connection,
        *,
        user_agent: str,
        budget: Budget | None = None,
        listener: Listener | None = None,
    ) -> None:
        self.connection = connection
        self.transport = Transport(connection, user_agent=user_agent, budget=budget, listener=listener)

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        await self.transport.close()

    async def login(self, *, deadline: float) -> None:
        """Gets credentials before the first call: a program that asks a person for them may take its time."""
        await self.transport.login(deadline=deadline)

    async def get(
        self,
        resource: Resource,
        name: str,
        *,
        namespace: str | None = None,
        into: type[T] = DICT,
        deadline: float = CALL_SECONDS,
    ) -> T:
        path = resource.path(namespace=namespace, name=name)
        return await self._call(requests.read(path), into=into, deadline=deadline)

    async def list(
        self,
        resource: Resource,
        *,
        namespace: str | None = None,
        into: type[T] = DICT,
        selector: str = "",
        field_selector: str = "",
        page: int = PAGE,
        deadline: float = PAGE_SECONDS,
    ) -> Listing[T]:
        """All pages, each within the deadline.

        A list that takes longer than the server keeps old versions (5 minutes by default) is begun anew.
        """
        selection = Selection(resource, namespace=namespace, labels=selector, fields=field_selector)
        for last in (False,) * (LIST_TRIES - 1) + (True,):
            items: list[T] = []
            version = ""
            try:
                async with aclosing(self._pages(selection, into=into, page=page, deadline=deadline)) as pages:
                    async for part in pages:
                        items += part.items
                        version = part.resource_version
            except GoneError:
                if last:
                    raise
                continue
            return Listing(items, version)
        raise AssertionError("the last try returns or raises")

    def pages(
        self,
        resource: Resource,
        *,
        namespace: str | None = None,
        into: type[T] = DICT,
        selector: str = "",
        field_selector: str = "",
        page: int = PAGE,
        deadline: float = PAGE_SECONDS,
    ) -> AsyncGenerator[Page[T], None]:
        """The same, page by page; GoneError means that a page is no longer kept."""
        selection = Selection(resource, namespace=namespace, labels=selector, fields=field_selector)
        return self._pages(selection, into=into, page=page, deadline=deadline)

    async def create(
        self,
        resource: Resource,
        manifest: Body,
        *,
        namespace: str | None = None,
        into: type[T] = DICT,
        deadline: float = CALL_SECONDS,
    ) -> T:
        return await self._call(requests.create(resource, manifest, namespace=namespace), into=into, deadline=deadline)

    async def apply(
        self,
        resource: Resource,
        manifest: Body,
        *,
        manager: str,
        force: bool = True,
        subresource: str | None = None,
        into: type[T] = DICT,
        deadline: float = CALL_SECONDS,
    ) -> T:
        """Server-side apply; with `force`, fields that others own become this manager's, else ConflictError."""
        request = requests.apply(resource, manifest, field_manager=manager, force=force, subresource=subresource)
        return await self._call(request, into=into, deadline=deadline)

    async def apply_status(
        self,
        resource: Resource,
        manifest: Manifest,
        *,
        manager: str,
        into: type[T] = DICT,
        deadline: float = CALL_SECONDS,
    ) -> T:
        """Makes the status exactly what the manifest has as `status`, whoever wrote it before; see `status`."""
        body = await write_status(self.transport, resource, manifest, manager=manager, deadline=deadline)
        return answers.decoded(body, into=into, request=f"the status of a {resource.kind}")

    async def patch(  # noqa: PLR0913 - Kubernetes has that many
        self,
        resource: Resource,
        name: str,
        patch: Mapping[str, Any] | Sequence[Manifest],
        *,
        kind: PatchKind,
        namespace: str | None = None,
        subresource: str | None = None,
        into: type[T] = DICT,
        deadline: float = CALL_SECONDS,
    ) -> T:
        path = resource.path(namespace=namespace, name=name, subresource=subresource)
        return await self._call(requests.patch(path, patch, kind=kind), into=into, deadline=deadline)

    async def update(
        self,
        resource: Resource,
        manifest: Body,
        *,
        subresource: str | None = None,
        into: type[T] = DICT,
        deadline: float = CALL_SECONDS,
    ) -> T:
        """Replaces the object; ConflictError if it has changed since the resourceVersion in the manifest."""
        return await self._call(
            requests.update(resource, manifest, subresource=subresource), into=into, deadline=deadline
        )

    async def delete(  # noqa: PLR0913 - Kubernetes has that many
        self,
        resource: Resource,
        name: str,
        *,
        namespace: str | None = None,
        uid: str | None = None,
        resource_version: str | None = None,
        grace_seconds: int | None = None,
        propagation: str | None = None,
        deadline: float = CALL_SECONDS,
    ) -> None:
        """Asks for its deletion; ConflictError if it is not the object with that UID and version."""
        request = requests.delete(
            resource.path(namespace=namespace, name=name),
            uid=uid,
            resource_version=resource_version,
            grace_seconds=grace_seconds,
            propagation=propagation,
        )
        await self.transport.call(request, deadline=deadline)

    async def watch(  # noqa: PLR0913 - Kubernetes has that many
        self,
        resource: Resource,
        *,
        resource_version: str,
        timeout_seconds: int,
        silence: float,
        namespace: str | None = None,
        into: type[T] = DICT,
        selector: str = "",
        field_selector: str = "",
        deadline: float = CALL_SECONDS,
    ) -> AsyncGenerator[Change[T], None]:
        """Changes after a version, until the server ends the stream, which it does after `timeout_seconds`.

        `silence` seconds without a byte raise UnreachableError; bookmarks come about once a minute, so it can be told
        from peace. An ERROR event raises the error that it carries. The deadline is for the beginning.
        """
        selection = Selection(resource, namespace=namespace, labels=selector, fields=field_selector)
        request = requests.watch(selection, resource_version=resource_version, timeout_seconds=timeout_seconds)
        lines, decoder = Lines(), EventDecoder(into, request=str(request))
        async with (
            self.transport.stream(request, deadline=deadline) as response,
            aclosing(self.transport.chunks(request, response, silence=silence)) as chunks,
        ):
            async for chunk in chunks:
                for line in lines.feed(chunk):
                    if (change := decoder.decode(line)) is not None:
                        yield change

    async def _pages(
        self, selection: Selection, *, into: type[T], page: int, deadline: float
    ) -> AsyncGenerator[Page[T], None]:
        token = ""
        while True:
            request = requests.page(selection, limit=page, token=token)
            body = await self.transport.call(request, deadline=deadline)
            found = answers.page(body, into=into, request=str(request))
            token = found.token
            yield found
            if not token:
                return

    async def _call(self, request: Request, *, into: type[T], deadline: float) -> T:
        body = await self.transport.call(request, deadline=deadline)
        return answers.decoded(body, into=into, request=str(request))
