"""Events on Kubernetes objects: what `kubectl describe` shows at the end."""

from __future__ import annotations

import hashlib
from datetime import datetime

from box.kube.api import Api, ApiError, Object

COMPONENT = "box-provisioner"
LONGEST_MESSAGE = 1000  # Kubernetes refuses more than 1024


def event(about: Object, reason: str, message: str, *, warning: bool, now: datetime) -> Object:
    """Build an event; the same words about the same object have the same name."""
    metadata = about["metadata"]
    digest = hashlib.sha256(f"{metadata['uid']} {reason} {message}".encode()).hexdigest()[:16]
    stamp = now.strftime("%Y-%m-%dT%H:%M:%SZ")
    subject = {name: metadata[name] for name in ("namespace", "name", "uid", "resourceVersion") if name in metadata}
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": f"{metadata['name']}.{digest}", "namespace": metadata.get("namespace", "default")},
        "involvedObject": {"apiVersion": about["apiVersion"], "kind": about["kind"], **subject},
        "reason": reason,
        "message": message[:LONGEST_MESSAGE],
        "type": "Warning" if warning else "Normal",
        "count": 1,
        "firstTimestamp": stamp,
        "lastTimestamp": stamp,
        "source": {"component": COMPONENT},
        "reportingComponent": COMPONENT,
    }


def record(api: Api, fresh: Object) -> None:
    """Send an event; one that is there already is counted."""
    folder = f"/api/v1/namespaces/{fresh['metadata']['namespace']}/events"
    try:
        api.create(folder, fresh)
    except ApiError as error:
        if not error.exists:
            raise
        path = f"{folder}/{fresh['metadata']['name']}"
        count = api.get(path).get("count", 1)
        api.patch(path, {"count": count + 1, "lastTimestamp": fresh["lastTimestamp"]})
