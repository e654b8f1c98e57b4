"""What a box needs of its host, looked at before anything is changed. Each finding is a sentence with a way out."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from box import cgroups
from box.layout import REPOSITORY, BoxError, Layout

DISK_NEEDED = 3 << 30
MEMORY_NEEDED = 1500 << 20
_NO_ROOT = "it needs root, for namespaces and mounts. Run it with: sudo -E"
_HIDDEN_IN_NODES = ("/var", "/run", "/proc", "/sys", "/dev")
_NOT_BELOW_OVERLAYS = ("overlay", "overlayfs", "nfs", "nfs4", "fuse")


def check(layout: Layout) -> None:
    """Raises one error with everything that is missing."""
    findings = list(_system(layout))
    if not findings:
        findings = list(_kernel())
    if findings:
        raise BoxError("the box cannot run here:\n" + "\n".join(f"  - {finding}" for finding in findings))


def check_root() -> None:
    if os.geteuid() != 0:
        raise BoxError(_NO_ROOT)


def _system(layout: Layout) -> Iterator[str]:
    if platform.system() != "Linux":
        yield f"it needs Linux, this is {platform.system()}. Use a Linux virtual machine"
        return
    if os.geteuid() != 0:
        yield _NO_ROOT
    for place in _HIDDEN_IN_NODES:
        if layout.home.is_relative_to(place):
            yield f"its folder {layout.home} is below {place}, which nodes have for themselves. Set BOX_HOME elsewhere"
        for what, path in (("this checkout", REPOSITORY), ("Python", Path(sys.executable).resolve())):
            if path.is_relative_to(place):
                yield f"{what} ({path}) is below {place}, which nodes have for themselves. Use one elsewhere"
    existing = next(parent for parent in (layout.home, *layout.home.parents) if parent.exists())
    kind = _file_system(existing)
    if kind.split(".")[0] in _NOT_BELOW_OVERLAYS:
        yield f"its folder {layout.home} is on {kind}, which cannot hold layers. Set BOX_HOME to a local disk"
    free = shutil.disk_usage(existing).free
    if free < DISK_NEEDED:
        yield f"{existing} has {free >> 20} MB free, {DISK_NEEDED >> 20} MB are needed. Free some or set BOX_HOME"
    memory = _available_memory()
    if memory < MEMORY_NEEDED:
        yield f"{memory >> 20} MB of memory are available, {MEMORY_NEEDED >> 20} MB are needed. End other programs"


def _kernel() -> Iterator[str]:
    lacking = cgroups.missing_controllers()
    if lacking:
        names = ", ".join(lacking)
        yield f"the cgroup controllers {names} are missing. Start the kernel with cgroup_enable={lacking[0]}"
    trees, _ = cgroups.hierarchies()
    if trees and not os.access(trees[0], os.W_OK):
        yield f"{trees[0]} is read-only. In a container, start it privileged and with its own cgroup namespace"
    if "overlay" not in Path("/proc/filesystems").read_text() and not _works("modprobe", "overlay"):
        yield "the kernel has no overlayfs. Load the module overlay"
    namespaces = ("unshare", "--net", "--mount", "--uts", "--ipc", "--pid", "--fork")
    if not _works(*namespaces, "true"):
        yield "new namespaces are refused. In a container, start it privileged"
        return
    bridge = "ip link add br0 type bridge && ip link add v1 type veth peer name v2"
    if shutil.which("ip") and not _works(*namespaces, "sh", "-c", bridge):
        yield "the kernel has no bridge or veth interfaces. Load the modules bridge and veth"
    table = "add table inet box { chain c { type nat hook prerouting priority 0; }; }"
    if shutil.which("nft") and not _works(*namespaces, "nft", table):
        yield "the kernel has no nftables with NAT. Load the modules nf_tables and nft_chain_nat"


def _works(*argv: str) -> bool:
    try:
        return subprocess.run(argv, capture_output=True, check=False, timeout=20).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def _available_memory() -> int:
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) << 10
    return 0


def _file_system(path: Path) -> str:
    best, kind = Path("/"), "unknown"
    for line in Path("/proc/self/mounts").read_text().splitlines():
        _, place, found, *_ = line.split()
        if path.is_relative_to(place) and len(place) >= len(str(best)):
            best, kind = Path(place), found
    return kind
