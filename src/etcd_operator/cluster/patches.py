"""What changes on a member's pod while it lives: its image, and what the operator has learned of it.

As strategic merge patches: containers are told apart by their names, annotations by their keys, and nothing else on the
pod is touched. Each names the pod's UID, so that it cannot hit a pod that took the name meanwhile: the API server
refuses to change a UID.
"""

from __future__ import annotations

from etcd_operator.cluster.containers import ETCD
from etcd_operator.cluster.launch import identity_annotation, plain
from etcd_operator.cluster.names import IDENTITY, VERSION
from etcd_operator.kube.objects import Manifest
from etcd_operator.member.settings import Identity


def new_image(*, uid: str, version: str, image: str) -> Manifest:
    """The kubelet restarts the one container in place: init containers do not run again, and the disk stays."""
    return {
        "metadata": {"uid": uid, "annotations": {VERSION: plain(version)}},
        "spec": {"containers": [{"name": ETCD, "image": image}]},
    }


def identified(*, uid: str, identity: Identity) -> Manifest:
    """From now on the guard knows that the member has run."""
    return {"metadata": {"uid": uid, "annotations": {IDENTITY: identity_annotation(identity)}}}
