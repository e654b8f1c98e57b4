"""Who owns a status, and the patches that make it ours."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from etcd_operator.kube.objects import Manifest
from etcd_operator.kube.ownership import ClaimedObject, exactly, others_own_status, ours_alone
from etcd_operator.kube.requests import encode

OURS = "etcd-operator"


def claim(manager: str, operation: str, fields: dict[str, Any], subresource: str = "") -> Manifest:
    made = {
        "manager": manager,
        "operation": operation,
        "apiVersion": "etcd.database.coreos.com/v1beta2",
        "time": "2026-11-15T09:00:00Z",
        "fieldsType": "FieldsV1",
        "fieldsV1": fields,
    }
    return {**made, "subresource": subresource} if subresource else made


def found(*claims: Manifest) -> ClaimedObject:
    body = {"metadata": {"name": "x", "resourceVersion": "7", "managedFields": claims}, "status": {"phase": "Running"}}
    return msgspec.json.decode(json.dumps(body), type=ClaimedObject)


def claims_after(*claims: Manifest) -> list[Manifest]:
    patch = json.loads(encode(ours_alone(found(*claims), manager=OURS)))
    assert patch[0] == {"op": "replace", "path": "/metadata/resourceVersion", "value": "7"}
    assert patch[1]["path"] == "/metadata/managedFields"
    left: list[Manifest] = patch[1]["value"]
    return left


STATUS: Manifest = {
    "f:status": {".": {}, "f:phase": {}, "f:conditions": {'k:{"type":"Ready"}': {".": {}, "f:status": {}}}}
}
SPEC: Manifest = {"f:spec": {"f:size": {}}}
LABELS: Manifest = {"f:metadata": {"f:labels": {"f:a": {}}}}
APPLIED = claim(OURS, "Apply", STATUS, "status")


def test_our_own_apply_is_nobody_elses() -> None:
    assert not others_own_status(found(APPLIED), manager=OURS)
    assert not others_own_status(found(), manager=OURS)


def test_whoever_owns_only_other_parts_is_left_alone() -> None:
    kubectl = claim("kubectl", "Update", {**SPEC, **LABELS})

    assert not others_own_status(found(APPLIED, kubectl), manager=OURS)
    assert claims_after(APPLIED, kubectl) == [APPLIED, kubectl]


def test_an_old_operator_loses_the_status_and_keeps_the_rest() -> None:
    old = claim(OURS, "Update", {**SPEC, **STATUS})

    assert others_own_status(found(APPLIED, old), manager=OURS)
    assert claims_after(APPLIED, old) == [APPLIED, claim(OURS, "Update", SPEC)]


def test_a_claim_to_nothing_but_the_status_goes() -> None:
    others = [
        claim("before-first-apply", "Update", STATUS),
        claim("somebody", "Apply", STATUS, "status"),
        claim(OURS, "Update", STATUS, "status"),
        claim(OURS, "Apply", STATUS),
    ]

    for other in others:
        assert others_own_status(found(APPLIED, other), manager=OURS)
    assert claims_after(APPLIED, *others) == [APPLIED]


def test_the_status_is_set_as_a_whole_on_the_object_that_was_looked_at() -> None:
    assert exactly(found(APPLIED), {"phase": "Failed"}) == [
        {"op": "replace", "path": "/metadata/resourceVersion", "value": "7"},
        {"op": "add", "path": "/status", "value": {"phase": "Failed"}},
    ]
