"""Members' disks, as they lie on the nodes: to be wiped as a person or a broken machine would."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.box.cluster.clusters import Cluster

EMPTY_DIR = "lib/kubelet/pods/{uid}/volumes/kubernetes.io~empty-dir/etcd-data"
VOLUME = "box/volumes/{name}"


def folder(cluster: Cluster, member: str) -> Path:
    """What the member sees as /var/etcd; reached also while its node is off."""
    pod = cluster.pods[member]
    node = cluster.box.layout.node(pod["spec"]["nodeName"])
    claimed = any("persistentVolumeClaim" in volume for volume in pod["spec"]["volumes"])
    if claimed:
        place = VOLUME.format(name=cluster.claims[member]["spec"]["volumeName"])
    else:
        place = EMPTY_DIR.format(uid=pod["metadata"]["uid"])
    return node / "var" / place


def wipe(place: Path) -> None:
    """Everything on it, the operator's marker included."""
    assert (place / "data" / "member").is_dir(), f"{place} is not the disk of a member that has run"
    for each in place.iterdir():
        shutil.rmtree(each) if each.is_dir() else each.unlink()
