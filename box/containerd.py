"""What every containerd of the box is told, on the nodes and while the image store is filled."""

from __future__ import annotations

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
