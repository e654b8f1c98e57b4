"""What changes on a member's pod and claim while they live: image, gate, owner, size, and what is learned of a member.

As strategic merge patches: containers are told apart by their names, conditions by their types, owners by their UIDs,
annotations by their keys, and nothing else on the object is touched. Each names the object's UID, so that it cannot hit
one that took the name meanwhile: the API server refuses to change a UID.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from etcd_operator.api.cluster import EtcdCluster
from etcd_operator.api.cluster_names import IDENTITY, POD_POLICY, SERVING, VERSION
from etcd_operator.api.names import GROUP
from etcd_operator.cluster.containers import ETCD
from etcd_operator.cluster.identity import written
from etcd_operator.cluster.launch import plain
from etcd_operator.cluster.metadata import owner
from etcd_operator.kube.objects import Manifest
from etcd_operator.plan.view import Body, Identity

REPLACED = f"{GROUP}/replaced-process"  # annotation: when the process began that is to end for a new image


def new_image(body: Body, *, version: str, image: str) -> Manifest:
    """The kubelet restarts the one container in place: init containers do not run again, and the disk stays.

    It takes a moment until it does, and meanwhile the old process answers as if nothing was to come. So it is noted
    which process that is.
    """
    noted = {REPLACED: _start_of(body)} if body.image != image else {}
    return {
        "metadata": {"uid": body.uid, "annotations": {VERSION: plain(version), **noted}},
        "spec": {"containers": [{"name": ETCD, "image": image}]},
    }


def is_replaced(annotations: Mapping[str, str], running_since: datetime | None) -> bool:
    """Whether what runs is what ran before the image was changed."""
    return running_since is not None and annotations.get(REPLACED) == running_since.isoformat()


def _start_of(body: Body) -> str:
    return body.running_since.isoformat() if body.running_since else ""


def identified(*, uid: str, identity: Identity, policy: str = "") -> Manifest:
    """From now on the guard knows that the member has run; `policy` is for a pod that does not tell its own."""
    annotations = {IDENTITY: written(identity), **({POD_POLICY: policy} if policy else {})}
    return {"metadata": {"uid": uid, "annotations": annotations}}


def gate(*, uid: str, opened: bool, now: datetime) -> Manifest:
    """Of the pod's status."""
    condition = {
        "type": SERVING,
        "status": "True" if opened else "False",
        "lastTransitionTime": now.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "reason": "Serving" if opened else "NotServing",
        "message": "Clients may be sent to this member." if opened else "No clients are sent to this member now.",
    }
    return {"metadata": {"uid": uid}, "status": {"conditions": [condition]}}


def requested(*, uid: str, storage: str) -> Manifest:
    return {"metadata": {"uid": uid}, "spec": {"resources": {"requests": {"storage": storage}}}}


def belonging(cluster: EtcdCluster, *, uid: str, owned: bool) -> Manifest:
    """Whether a claim goes down with its cluster."""
    ours = owner(cluster) if owned else {"$patch": "delete", "uid": cluster.metadata.uid}
    return {"metadata": {"uid": uid, "ownerReferences": [ours]}}
