"""An operator leaves a CRD of its own revision alone, so a changed schema must have a new one."""

from __future__ import annotations

import hashlib
import json

from etcd_operator.api import crd

# Revisions that were never in a release may get another digest; a released one never.
DIGESTS = {1: "88b3a7c3ec9680fd"}


def digest() -> str:
    specs = [definition["spec"] for definition in crd.definitions()]
    return hashlib.sha256(json.dumps(specs, sort_keys=True).encode()).hexdigest()[:16]


def test_a_changed_schema_has_a_revision_of_its_own() -> None:
    assert DIGESTS[crd.REVISION] == digest(), "raise crd.REVISION if it was released, and note the digest here"
