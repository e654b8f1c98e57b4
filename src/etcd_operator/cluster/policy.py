"""A fingerprint of what the user asked of members' pods: where it differs from a pod's, the pod is made anew.

Made of the spec and not of the pod: a newer operator may build pods in another way, and that is no reason to restart
members. Which fields count is said where they are declared: those of which the user reads that members restart with
them. Fields at their defaults count as absent, so a field that is new in the API changes no fingerprint.

Version and repository are not in it. They are the pod's image, which can be seen and, other than the rest, changed in
place.
"""

from __future__ import annotations

import hashlib
import json
from functools import cache
from typing import Any, get_args

import msgspec

from etcd_operator.api.cluster import ClusterSpec
from etcd_operator.api.field import Change, Field
from etcd_operator.api.stored import Part

RESTARTING = frozenset({Change.ROLLS, Change.RENAMED})
IN_IMAGE = frozenset({"version", "repository"})
DIGITS = 16


def fingerprint(spec: ClusterSpec) -> str:
    asked = {name: value for name, value in _restarting(spec).items() if name not in IN_IMAGE}
    if asked.get("pod", {}).get("affinity"):
        asked["pod"].pop("antiAffinity", None)  # has no effect beside the other
    text = json.dumps(asked, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]


def _restarting(part: Part) -> dict[str, Any]:
    """The fields that members restart with, as far as they are set, by their names in JSON."""
    found: dict[str, Any] = {}
    for attribute, name, change in _changes(type(part)):
        value = getattr(part, attribute)
        if isinstance(value, Part):
            value = _restarting(value)
        elif change not in RESTARTING:
            continue
        if value:
            found[name] = value
    return found


@cache  # msgspec looks all annotations up again at each call
def _changes(part: type[Part]) -> tuple[tuple[str, str, Change | None], ...]:
    """Each field by its name in Python and in JSON, and what its change does."""
    fields = [(field, _declaration(field.type)) for field in msgspec.structs.fields(part)]
    return tuple((field.name, field.encode_name, declared.change) for field, declared in fields if declared)


def _declaration(annotated: object) -> Field | None:
    return next((each for each in get_args(annotated) if isinstance(each, Field)), None)
