"""Which loop an event of an informer wakes.

An object wakes its own loop, a child that of its owner. What a person or another program did to the object on purpose
(made it, changed its spec, labels or annotations, deleted it) ends a back-off at once; a new status does not, as the
loop itself writes that one.
"""

from __future__ import annotations

from collections.abc import Callable

from etcd_operator.kube.loops import Loops
from etcd_operator.kube.resources import Resource
from etcd_operator.kube.store import Difference, Key, Named


def by_itself(loops: Loops[Key]) -> Callable[[Difference[Named]], None]:
    """For the informer of the objects that have loops."""

    def heard(difference: Difference[Named]) -> None:
        loops.wake(difference.key, afresh=on_purpose(difference))

    return heard


def by_owner(loops: Loops[Key], owner: Resource) -> Callable[[Difference[Named]], None]:
    """For an informer of children: those that such an owner has wake its loop."""

    def heard(difference: Difference[Named]) -> None:
        for key in {*owners(difference.old, owner), *owners(difference.new, owner)}:
            loops.wake(key)

    return heard


def owners(child: Named | None, owner: Resource) -> list[Key]:
    """The objects of a kind that a child says it belongs to; the API's version may have been an older one."""
    if child is None:
        return []
    return [
        Key(child.metadata.namespace if owner.namespaced else "", reference.name)
        for reference in child.metadata.owner_references
        if reference.kind == owner.kind and reference.api_version.rpartition("/")[0] == owner.group
    ]


def on_purpose(difference: Difference[Named]) -> bool:
    """Whether more than the status of an object is another one now."""
    if difference.old is None or difference.new is None:
        return True
    old, new = difference.old.metadata, difference.new.metadata
    return (
        old.generation != new.generation
        or old.deletion_timestamp != new.deletion_timestamp
        or old.labels != new.labels
        or old.annotations != new.annotations
    )
