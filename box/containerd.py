"""What every containerd of the box is told, on the nodes and while the image store is filled."""

from __future__ import annotations

from pathlib import Path

NAMESPACE = "k8s.io"  # where a kubelet looks for images

# Snapshotters for disks that are not there, traces that nobody collects, and a folder on the host (`opt`).
UNUSED_PLUGINS = (
    "io.containerd.snapshotter.v1.aufs",
    "io.containerd.snapshotter.v1.btrfs",
    "io.containerd.snapshotter.v1.devmapper",
    "io.containerd.snapshotter.v1.zfs",
    "io.containerd.internal.v1.opt",
    "io.containerd.internal.v1.tracing",
    "io.containerd.tracing.processor.v1.otlp",
)

TRIES = 3  # of an import


def import_arguments(tar: Path) -> tuple[str, ...]:
    return ("images", "import", "--snapshotter", "overlayfs", str(tar))


def was_swept(complaint: str) -> bool:
    """Whether an import failed on what containerd's garbage collector had just taken.

    Where an image replaces one of the same name, the layers they share have no owner for a moment. A second import
    brings them again.
    """
    return "parent snapshot" in complaint and "not found" in complaint
