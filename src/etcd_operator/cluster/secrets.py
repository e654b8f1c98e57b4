"""Secrets by name, each looked at again after a while.

The operator may not list secrets, so nobody tells it of changes. What is there is asked for again every 10 s or so,
early enough for a renewed certificate; what is missing every 2 s, because somebody may just be creating it. While the
API server is away what was known stays good.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import random
from collections.abc import Mapping
from dataclasses import dataclass

from etcd_operator.kube.client import Client
from etcd_operator.kube.errors import NotFoundError, ServerError, TooManyRequestsError, UnreachableError
from etcd_operator.kube.projections import Secret
from etcd_operator.kube.resources import SECRETS
from etcd_operator.kube.store import Key

FOUND = 10.0  # seconds
MISSING = 2.0
KEPT = 60.0  # what nobody asked for so long is forgotten
DEADLINE = 5.0

Content = Mapping[str, bytes]


@dataclass
class _Known:
    content: Content | None
    until: float


class Secrets:
    def __init__(self, client: Client) -> None:
        self._client = client
        self._known: dict[Key, _Known] = {}

    async def get(self, key: Key) -> Content | None:
        """None if there is no such secret."""
        now = asyncio.get_running_loop().time()
        known = self._known.get(key)
        if known and now < known.until:
            return known.content
        try:
            content = await self._read(key)
        except (UnreachableError, ServerError, TooManyRequestsError):
            if known is None or known.content is None:
                raise
            content = known.content
        pause = FOUND if content is not None else MISSING
        self._known[key] = _Known(content, now + pause * random.uniform(0.8, 1.2))  # noqa: S311 - only spreads calls
        self._forget(now - KEPT)
        return content

    async def _read(self, key: Key) -> Content | None:
        try:
            found = await self._client.get(SECRETS, key.name, namespace=key.namespace, into=Secret, deadline=DEADLINE)
        except NotFoundError:
            return None
        return {name: _bytes(text) for name, text in found.data.items()}

    def _forget(self, before: float) -> None:
        for key in [key for key, known in self._known.items() if known.until < before]:
            del self._known[key]


def _bytes(text: str) -> bytes:
    try:
        return base64.b64decode(text)
    except binascii.Error:  # the API server lets none in
        return b""
