"""The cgroups of a box, on hosts with cgroup v1, v2 or both.

`<box>/<node>/sys` holds the programs of a node, `<box>/<node>/kubepods` is made by its kubelet. On v1 the same tree
stands in every hierarchy. Nothing else of the host's cgroups is changed, except that on v2 the controllers are
switched on for the children of the root (most of them are already, where systemd runs).
"""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path

from box.layout import BoxError

NEEDED = ("cpu", "cpuset", "memory", "pids")


def hierarchies(mounts: str | None = None) -> tuple[list[Path], bool]:
    """The mounted cgroup trees, and whether the one that counts is v2."""
    text = Path("/proc/self/mounts").read_text() if mounts is None else mounts
    first: list[Path] = []
    second: list[Path] = []
    for line in text.splitlines():
        _, place, kind, *_ = line.split()
        if place == "/sys/fs/cgroup" and kind == "cgroup2":
            return [Path(place)], True  # as runc and the kubelet decide it; a v1 tree below is somebody else's
        if place.startswith("/sys/fs/cgroup/") and kind in ("cgroup", "cgroup2"):
            (first if kind == "cgroup" else second).append(Path(place))
    return first + second, False


def missing_controllers() -> list[str]:
    """The controllers a kubelet needs and this host does not offer."""
    trees, unified = hierarchies()
    if unified:
        offered = (trees[0] / "cgroup.controllers").read_text().split() if trees else []
    else:
        offered = [name for tree in trees for name in tree.name.split(",")]
    return [name for name in NEEDED if name not in offered]


def create(group: str) -> None:
    """Makes a group such as `/box-demo/w1/sys` with its parents, ready to take processes."""
    trees, unified = hierarchies()
    for tree in trees:
        here = tree
        for part in group.strip("/").split("/"):
            if unified:
                _switch_on_controllers(here)
            here = here / part
            here.mkdir(exist_ok=True)
            _fill_cpuset(here)


def join(group: str) -> None:
    """Moves the calling process into the group."""
    trees, _ = hierarchies()
    for tree in trees:
        (tree / group.strip("/") / "cgroup.procs").write_text("0")


def processes(group: str) -> set[int]:
    """Who is in the group or below it."""
    found: set[int] = set()
    for top in _tops(group):
        for folder, _, _ in os.walk(top):
            with contextlib.suppress(OSError):
                found.update(int(pid) for pid in (Path(folder) / "cgroup.procs").read_text().split())
    return found - {0}  # a process of a PID namespace that we do not see


def remove(group: str, *, patience: float = 5.0) -> None:
    """Removes the group from every tree; its processes must be dying already."""
    deadline = time.monotonic() + patience
    while tops := _tops(group):
        for top in tops:
            for folder, _, _ in os.walk(top, topdown=False):
                with contextlib.suppress(OSError):
                    os.rmdir(folder)
        if not _tops(group):
            return
        if time.monotonic() > deadline:
            raise BoxError(f"the cgroup {tops[0]} is still in use by processes {sorted(processes(group))}")
        time.sleep(0.02)


def cpu_seconds(group: str) -> float:
    """CPU time used by the group since it was made."""
    trees, unified = hierarchies()
    for tree in trees:
        here = tree / group.strip("/")
        if unified:
            usage = dict(line.split() for line in (here / "cpu.stat").read_text().splitlines())
            return int(usage["usage_usec"]) / 1e6
        if "cpuacct" in tree.name.split(","):
            return int((here / "cpuacct.usage").read_text()) / 1e9
    raise BoxError("this host does not count CPU time per cgroup")


def _tops(group: str) -> list[Path]:
    trees, _ = hierarchies()
    return [tree / group.strip("/") for tree in trees if (tree / group.strip("/")).is_dir()]


def _fill_cpuset(folder: Path) -> None:
    # A v1 cpuset starts empty and takes no process until it names processors and memory.
    for name in ("cpuset.cpus", "cpuset.mems"):
        file, parent = folder / name, folder.parent / name
        if file.exists() and parent.exists() and not file.read_text().strip():
            with contextlib.suppress(OSError):
                file.write_text(parent.read_text())


def _switch_on_controllers(folder: Path) -> None:
    offered = (folder / "cgroup.controllers").read_text().split()
    enabled = (folder / "cgroup.subtree_control").read_text().split()
    wanted = [f"+{name}" for name in (*NEEDED, "io", "hugetlb") if name in offered and name not in enabled]
    if not wanted:
        return
    try:
        (folder / "cgroup.subtree_control").write_text(" ".join(wanted))
    except OSError as error:
        raise BoxError(
            f"the cgroup controllers {' '.join(wanted)} cannot be switched on in {folder} ({error.strerror}). "
            "Run the box on the host itself or in a container with a delegated cgroup tree"
        ) from error
