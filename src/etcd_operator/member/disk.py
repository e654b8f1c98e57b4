"""What a member's volume holds: whose it is, and whether etcd has ever written to it.

A marker beside the data directory says whose volume it is. It is written before etcd may start for the first time, in
a way that leaves either no marker or a whole one, so whatever was cut off in between is found as if it had never begun.

Only "no such file" counts as absence. Every other error is the caller's to report: a disk that cannot be read must
never be taken for an empty one.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from etcd_operator.member.settings import Settings


@dataclass(frozen=True)
class Marker:
    cluster: str  # UID of the EtcdCluster
    member: str


@dataclass(frozen=True)
class Illegible:
    """A marker that nobody of ours has left like this."""

    beginning: str


@dataclass(frozen=True)
class Disk:
    marker: Marker | Illegible | None
    has_wal: bool
    has_files: bool  # anything at all in the data directory
    read_only: bool


def own_marker(settings: Settings) -> Marker:
    return Marker(cluster=settings.cluster_uid, member=settings.member)


def look(settings: Settings) -> Disk:
    mounted = os.statvfs(settings.marker.parent)
    return Disk(
        marker=read_marker(settings.marker),
        has_wal=any(name.endswith(".wal") for name in _names(settings.data_dir / "member" / "wal")),
        has_files=bool(_names(settings.data_dir)),
        read_only=bool(mounted.f_flag & os.ST_RDONLY),
    )


def _names(folder: Path) -> list[str]:
    try:
        return [path.name for path in folder.iterdir()]
    except FileNotFoundError:
        return []


def read_marker(path: Path) -> Marker | Illegible | None:
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    try:
        match json.loads(content):
            case {"cluster": str(cluster), "member": str(member)}:
                return Marker(cluster=cluster, member=member)
    except ValueError:
        pass
    return Illegible(content[:80].decode(errors="replace"))


def write_marker(path: Path, marker: Marker) -> None:
    """Back only when it would survive a power cut; etcd's first vote must not come before that."""
    unfinished = path.with_name(f"{path.name}.tmp")
    with unfinished.open("w") as handle:
        handle.write(json.dumps(asdict(marker)) + "\n")
        handle.flush()
        os.fsync(handle.fileno())
    unfinished.rename(path)
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
