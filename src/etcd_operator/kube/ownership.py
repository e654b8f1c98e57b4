"""Who owns the fields of an object's status, and how it becomes ours alone.

The API server remembers for each manager which fields it set (`metadata.managedFields`), and our apply removes a field
that we no longer state only if nobody else owns it too. The operator of old wrote the whole object with PUT, so what it
set would stay for ever unless its claims are struck. What others own beside the status stays theirs.

To put their claims into ours and leave the removal to the next apply is not enough: without a schema a list is owned as
a whole, and where a later schema makes it one of keyed items, nobody owns those items, and they stay. So the values are
made right by a patch of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from etcd_operator.kube.objects import Manifest

STATUS = "f:status"


class Claim(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """What one manager owns by one kind of operation, as the server keeps it."""

    manager: str = ""
    operation: str = ""
    api_version: str = ""
    time: str | None = None
    fields_type: str = ""
    fields_v1: dict[str, msgspec.Raw] | None = msgspec.field(default=None, name="fieldsV1")
    subresource: str = ""

    def is_apply_of(self, manager: str) -> bool:
        return (self.manager, self.operation, self.subresource) == (manager, "Apply", "status")


class ClaimedMetadata(msgspec.Struct, frozen=True, rename="camel"):
    resource_version: str = ""
    managed_fields: tuple[Claim, ...] = ()


class ClaimedObject(msgspec.Struct, frozen=True):
    """An object, reduced to who owns what of it."""

    metadata: ClaimedMetadata = ClaimedMetadata()


def others_own_status(found: ClaimedObject, *, manager: str) -> bool:
    return any(_is_foreign(claim, manager) for claim in found.metadata.managed_fields)


def without_others(claims: Sequence[Claim], *, manager: str) -> list[Claim]:
    """The claims, less the others' to the status; a claim to nothing is none."""
    kept = []
    for claim in claims:
        if not _is_foreign(claim, manager):
            kept.append(claim)
            continue
        rest = {key: value for key, value in (claim.fields_v1 or {}).items() if key != STATUS}
        if rest:
            kept.append(msgspec.structs.replace(claim, fields_v1=rest))
    return kept


def exactly(found: ClaimedObject, status: Any) -> list[Manifest]:  # noqa: ANN401 - each kind's own
    """A JSON patch that makes the status what it should be, if the object is still the one found."""
    return [_if_still(found), {"op": "add", "path": "/status", "value": status}]


def ours_alone(found: ClaimedObject, *, manager: str) -> list[Manifest]:
    """A JSON patch that strikes the others' claims to the status, if the object is still the one found."""
    claims = without_others(found.metadata.managed_fields, manager=manager)
    return [_if_still(found), {"op": "replace", "path": "/metadata/managedFields", "value": claims}]


def _if_still(found: ClaimedObject) -> Manifest:
    # Put to another value than the object has, the version is refused with 409, where a failed `test` gives 422.
    return {"op": "replace", "path": "/metadata/resourceVersion", "value": found.metadata.resource_version}


def _is_foreign(claim: Claim, manager: str) -> bool:
    return STATUS in (claim.fields_v1 or {}) and not claim.is_apply_of(manager)
