"""Objects for tests, said briefly."""

from __future__ import annotations

from etcd_operator.kube.objects import Metadata, OwnerReference, PartialObject
from etcd_operator.kube.store import Key


def an_object(
    name: str, *, version: int = 1, uid: str = "", owner: str = "", generation: int = 0, doomed: bool = False
) -> PartialObject:
    """In namespace `ns`, the first of its name unless a UID says otherwise."""
    owners = (OwnerReference(api_version="v1", kind="ConfigMap", name=owner, uid=f"uid-of-{owner}"),) if owner else ()
    return PartialObject(
        Metadata(
            name=name,
            namespace="ns",
            uid=uid or f"uid-of-{name}",
            resource_version=str(version),
            generation=generation,
            owner_references=owners,
            deletion_timestamp="2026-11-15T09:00:00Z" if doomed else None,
        )
    )


def a_key(name: str) -> Key:
    return Key("ns", name)
