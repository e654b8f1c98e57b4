"""What the provisioner should do next for a volume: decided from the objects alone, without any effect.

A volume's name is `pvc-` and the claim's UID, as with every provisioner of Kubernetes, so a decision needs no memory.
The Kubernetes controllers do the rest: they bind the volume we create to its claim, and mark it Released when the
claim is gone. For expansion the controller manager only says "waiting for an external controller": that is us.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from box.kube.api import Object
from box.layout import BoxError
from box.volume.quantity import human_bytes, parse_bytes
from box.volume.volumes import KINDS, ROOT, SMALLEST, Kind

PROVISIONED_BY = "pv.kubernetes.io/provisioned-by"
PROVISIONER = "volume.kubernetes.io/storage-provisioner"
SELECTED_NODE = "volume.kubernetes.io/selected-node"
HOSTNAME = "kubernetes.io/hostname"
RESIZE_CONDITIONS = ("Resizing", "FileSystemResizePending", "ControllerResizeError", "NodeResizeError")


@dataclass(frozen=True)
class Make:
    """Make a volume on the node the scheduler chose, and tell Kubernetes."""

    claim: Object
    kind: Kind
    node: str
    size: str

    @property
    def bytes(self) -> int:
        return parse_bytes(self.size)


@dataclass(frozen=True)
class Grow:
    """Enlarge a volume to what its claim asks for now."""

    claim: Object
    kind: Kind
    node: str
    size: str

    @property
    def bytes(self) -> int:
        return parse_bytes(self.size)


@dataclass(frozen=True)
class Remove:
    """Delete a volume that nobody claims any more, with its data."""

    volume: Object
    node: str


@dataclass(frozen=True)
class Refuse:
    """Tell the user why there will be no volume."""

    claim: Object
    why: str


Step = Make | Grow | Remove | Refuse


def volume_name(claim: Object) -> str:
    return f"pvc-{claim['metadata']['uid']}"


def kind_of(obj: Object) -> Kind | None:
    """Find the kind of volume that a claim asks for or a volume is; None if it is not ours."""
    notes = obj["metadata"].get("annotations") or {}
    maker = notes.get(PROVISIONED_BY) or notes.get(PROVISIONER)
    return next((kind for kind in KINDS if kind.provisioner == maker), None)


def decide(claim: Object | None, volume: Object | None) -> Step | None:
    """Find the next step for a claim and the volume of its name, either of which may be missing."""
    if volume is not None:
        return _for_volume(claim, volume)
    if claim is not None:
        return _for_unbound(claim)
    return None


def removable(volume: Object) -> bool:
    """Whether a volume's data may go: nobody claims it, and its policy does not keep it."""
    phase, policy = volume.get("status", {}).get("phase"), volume["spec"].get("persistentVolumeReclaimPolicy")
    return bool(phase == "Released" and policy == "Delete")


def node_of(volume: Object) -> str:
    terms = volume["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"]
    return str(terms[0]["matchExpressions"][0]["values"][0])


def persistent_volume(step: Make, *, reclaim: str) -> Object:
    metadata = step.claim["metadata"]
    name = volume_name(step.claim)
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name, "annotations": {PROVISIONED_BY: step.kind.provisioner}},
        "spec": {
            "capacity": {"storage": step.size},
            "accessModes": step.claim["spec"]["accessModes"],
            "volumeMode": "Filesystem",
            "persistentVolumeReclaimPolicy": reclaim,
            "storageClassName": step.claim["spec"]["storageClassName"],
            "local": {"path": str(ROOT / name)},
            "claimRef": {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "namespace": metadata["namespace"],
                "name": metadata["name"],
                "uid": metadata["uid"],
            },
            "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [_on(step.node)]}]}},
        },
    }


def grown_status(step: Grow) -> Object:
    """Build the patch of a claim whose volume has grown; it fails if the claim has changed since."""
    conditions = step.claim["status"].get("conditions") or []
    return {
        "metadata": {"resourceVersion": step.claim["metadata"]["resourceVersion"]},
        "status": {
            "capacity": {"storage": step.size},
            "allocatedResources": {"storage": step.size},
            "allocatedResourceStatuses": None,
            "conditions": [entry for entry in conditions if entry["type"] not in RESIZE_CONDITIONS],
        },
    }


def _on(node: str) -> dict[str, Any]:
    return {"key": HOSTNAME, "operator": "In", "values": [node]}


def _for_volume(claim: Object | None, volume: Object) -> Step | None:
    kind = kind_of(volume)
    if kind is None:
        return None
    if removable(volume):
        return Remove(volume=volume, node=node_of(volume))
    if claim is not None and claim.get("status", {}).get("phase") == "Bound":
        wanted = claim["spec"]["resources"]["requests"]["storage"]
        present = claim["status"].get("capacity", {}).get("storage", "0")
        if parse_bytes(wanted) > parse_bytes(present):
            return Grow(claim=claim, kind=kind, node=node_of(volume), size=wanted)
    return None


def _for_unbound(claim: Object) -> Step | None:
    metadata, spec = claim["metadata"], claim["spec"]
    kind = kind_of(claim)
    node = (metadata.get("annotations") or {}).get(SELECTED_NODE)
    if kind is None or not node or spec.get("volumeName") or metadata.get("deletionTimestamp"):
        return None
    size = spec["resources"]["requests"]["storage"]
    why = _unfit(spec, kind, size)
    return Refuse(claim, why) if why else Make(claim=claim, kind=kind, node=node, size=size)


def _unfit(spec: Object, kind: Kind, size: str) -> str | None:
    if spec.get("volumeMode") == "Block":
        return f"{kind.storage_class} makes file systems only, and the claim asks for volumeMode Block."
    if spec.get("dataSource") or spec.get("dataSourceRef"):
        return f"{kind.storage_class} makes empty volumes only, and the claim names a dataSource."
    if spec.get("selector"):
        return f"{kind.storage_class} makes a volume for each claim, so the claim must not have a selector."
    try:
        count = parse_bytes(size)
    except BoxError as error:
        return str(error)
    if kind.sized and count < SMALLEST:
        return f"{kind.storage_class} volumes have at least {human_bytes(SMALLEST)}, and the claim asks for {size}."
    return None
