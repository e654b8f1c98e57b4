"""Small objects that the tests put into the API server."""

from __future__ import annotations

from etcd_operator.kube.objects import Manifest


def note(name: str, namespace: str, **words: str) -> Manifest:
    """A ConfigMap."""
    return {"metadata": {"name": name, "namespace": namespace, "labels": {"of": name}}, "data": words}


def event(name: str, namespace: str, text: str = "") -> Manifest:
    """An Event: the one kind that the API server reads from its etcd each time, without a cache of its own."""
    return {
        "metadata": {"name": name, "namespace": namespace},
        "eventTime": "2026-01-01T00:00:00.000000Z",
        "reportingController": "tests",
        "reportingInstance": "tests",
        "action": "Try",
        "reason": "Tried",
        "type": "Normal",
        "regarding": {"kind": "Pod", "namespace": namespace, "name": "none"},
        "note": text,
    }
