"""Pods as the kubelet reports them, in as many words as a test needs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from etcd_operator.kube.projections import Claim, Pod

RUNNING = {"running": {"startedAt": "2026-11-15T12:34:06Z"}}
COMPLETED = {"terminated": {"exitCode": 0, "reason": "Completed"}}
NOT_YET = {"waiting": {"reason": "PodInitializing"}}
CRASH_LOOP = {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 10s restarting failed container"}}


def a_pod(
    *,
    annotations: dict[str, str] | None = None,
    node: str = "w1",
    phase: str = "Pending",
    conditions: Mapping[str, str | dict[str, str]] | None = None,
    guard: Any = None,
    etcd: Any = None,
    spec: Any = None,
    **rest: Any,
) -> Pod:
    """`guard` and `etcd` are the states of their containers, or whole statuses with `state` in them."""
    manifest = {
        "metadata": {
            "name": "demo-a",
            "uid": "u-1",
            "annotations": annotations or {},
            "creationTimestamp": "2026-11-15T12:34:03Z",
            **rest.pop("metadata", {}),
        },
        "spec": {"nodeName": node, "containers": [{"name": "etcd", "image": "e:v3.6.16"}], **(spec or {})},
        "status": {
            "phase": phase,
            "podIP": "10.1.2.3",
            "conditions": [_condition(name, told) for name, told in (conditions or {}).items()],
            "initContainerStatuses": [_status("check-dns", guard)] if guard is not None else [],
            "containerStatuses": [_status("etcd", etcd)] if etcd is not None else [],
            **rest,
        },
    }
    return msgspec.convert(manifest, Pod)


def ended(message: str = "", *, code: int = 1) -> dict[str, Any]:
    return {"terminated": {"exitCode": code, "reason": "Error", "message": message}}


def a_claim(*, phase: str = "Bound", storage: str = "8Gi", **metadata: Any) -> Claim:
    spec = {"resources": {"requests": {"storage": storage}}}
    named = {"name": "demo-a", "uid": "c-1", **metadata}
    return msgspec.convert({"metadata": named, "spec": spec, "status": {"phase": phase}}, Claim)


def _condition(name: str, told: str | dict[str, str]) -> dict[str, str]:
    return {"type": name, **({"status": told} if isinstance(told, str) else told)}


def _status(name: str, state: Any) -> dict[str, Any]:
    return {"name": name, **(state if "state" in state or "lastState" in state else {"state": state})}
