"""The definitions of our kinds, brought up to date when an operator starts.

Every definition of ours carries a revision number in an annotation. One without it, or with a smaller one, is older:
it is replaced, and what is not ours to say (other annotations and labels, versions that objects are stored in) is kept.
One with a greater number belongs to a newer operator and is left alone, so that a rollback of the operator never takes
fields away from objects that use them. Two operators that start at once get in each other's way at most for a moment.
"""

from __future__ import annotations

import asyncio
import enum
from contextlib import suppress
from typing import Any

import msgspec

from etcd_operator.kube.client import Client
from etcd_operator.kube.errors import AlreadyExistsError, ConflictError, DeadlineExceededError, KubeError, NotFoundError
from etcd_operator.kube.objects import Manifest
from etcd_operator.kube.resources import CUSTOM_RESOURCE_DEFINITIONS

SECONDS = 30.0
PAUSE = 0.2


class Outcome(enum.Enum):
    """What it took."""

    CREATED = "created"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    NEWER = "left alone, as it is newer than ours"


class DefinitionError(KubeError):
    """A definition that the API server took, and yet does not serve."""


class _Condition(msgspec.Struct, frozen=True):
    type: str = ""
    status: str = ""
    message: str = ""


class _Status(msgspec.Struct, frozen=True):
    conditions: tuple[_Condition, ...] | None = None


class _Definition(msgspec.Struct, frozen=True):
    status: _Status = _Status()

    def condition(self, kind: str) -> _Condition:
        return next((found for found in self.status.conditions or () if found.type == kind), _Condition(kind))


async def ensure(client: Client, manifest: Manifest, *, revision_key: str, deadline: float = SECONDS) -> Outcome:
    """Creates or updates a definition, and returns when objects of its kind can be used.

    `revision_key` is the annotation that counts its revisions.
    """
    name = manifest["metadata"]["name"]
    if revision(manifest, revision_key) < 0:
        raise ValueError(f"the definition {name} has no number in its annotation {revision_key}")
    try:
        async with asyncio.timeout(deadline):
            outcome = await _settle(client, manifest, revision_key)
            await _served(client, name)
    except TimeoutError:
        raise DeadlineExceededError(f"the definition {name} is not in use after {deadline:g} s") from None
    return outcome


def revision(definition: Manifest, key: str) -> int:
    """-1 for one that has none, or none that is a number."""
    text = (definition["metadata"].get("annotations") or {}).get(key, "")
    return int(text) if text.isdecimal() else -1


def replacement(old: Manifest, new: Manifest) -> Manifest:
    """The new definition in the place of the old one."""
    there, ours = old["metadata"], new["metadata"]
    metadata = dict(there)
    for key in ("annotations", "labels"):
        if merged := {**(there.get(key) or {}), **(ours.get(key) or {})}:
            metadata[key] = merged
    versions = [*new["spec"]["versions"], *_still_stored(old, new)]
    return {**new, "metadata": metadata, "spec": {**new["spec"], "versions": versions}}


def _still_stored(old: Manifest, new: Manifest) -> list[dict[str, Any]]:
    """Versions that objects may be stored in: the server refuses to forget them, so they stay, unserved."""
    known = {version["name"] for version in new["spec"]["versions"]}
    anything = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    return [
        {"name": name, "served": False, "storage": False, "schema": anything}
        for name in old.get("status", {}).get("storedVersions") or ()
        if name not in known
    ]


async def _settle(client: Client, manifest: Manifest, revision_key: str) -> Outcome:
    name, ours = manifest["metadata"]["name"], revision(manifest, revision_key)
    while True:
        try:
            old = await client.get(CUSTOM_RESOURCE_DEFINITIONS, name)
            theirs = revision(old, revision_key)
            if "deletionTimestamp" in old["metadata"]:
                await asyncio.sleep(PAUSE)  # it goes with all its objects; ours comes after it
            elif theirs >= ours:
                return Outcome.NEWER if theirs > ours else Outcome.UNCHANGED
            else:
                await client.update(CUSTOM_RESOURCE_DEFINITIONS, replacement(old, manifest))
                return Outcome.UPDATED
        except NotFoundError:
            with suppress(AlreadyExistsError):
                await client.create(CUSTOM_RESOURCE_DEFINITIONS, manifest)
                return Outcome.CREATED
        except ConflictError:
            continue


async def _served(client: Client, name: str) -> None:
    while True:
        found = await client.get(CUSTOM_RESOURCE_DEFINITIONS, name, into=_Definition)
        names, established = found.condition("NamesAccepted"), found.condition("Established")
        if names.status == "False":
            raise DefinitionError(f"the definition {name} is not served, as its names are taken: {names.message}")
        if (names.status, established.status) == ("True", "True"):
            return
        await asyncio.sleep(PAUSE)
