"""What a node sees of the file system: the host's programs, a disk and a /run of its own, and guarded kernel settings.

`prepare` runs in the room before the node starts, `mount` runs as the node's first process.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from box.layout import BoxError, Layout
from box.network import switch

# The kubelet insists on these values and would set them for the whole host. Inside a node plain files with the values
# stand in their place, so it is content and the host stays as it was.
_GUARDED = {
    "kernel/panic": "10",
    "kernel/panic_on_oops": "1",
    "kernel/keys/root_maxbytes": "25000000",
    "kernel/keys/root_maxkeys": "1000000",
    "vm/overcommit_memory": "1",
    "vm/panic_on_oom": "0",
}

_FOLDERS = ("lib/kubelet", "lib/containerd", "lib/cni", "lib/etcd", "log", "tmp", "box/volumes")


def prepare(layout: Layout, node: str, files: dict[str, str]) -> None:
    """Lays out a node's disk; what is on it already stays."""
    disk = layout.node(node)
    (layout.logs / node).mkdir(parents=True, exist_ok=True)
    for folder in _FOLDERS:
        (disk / "var" / folder).mkdir(parents=True, exist_ok=True)
    (disk / "var/tmp").chmod(0o1777)
    run = disk / "var/run"
    if not run.is_symlink():
        run.symlink_to("/run")
    guarded = {f"sysctl/{name}": value + "\n" for name, value in _GUARDED.items()}
    own = {"resolv.conf": switch.resolv_conf(), "hosts": switch.hosts(node)}
    for name, text in {**files, **guarded, **own}.items():
        path = disk / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def mount(layout: Layout, node: str) -> None:
    """Turns the calling process's private mount namespace into the node's."""
    disk = layout.node(node)
    _mount("--make-rprivate", "/")
    _mount("--bind", str(disk / "var"), "/var")
    _mount("-t", "tmpfs", "-o", "mode=755,size=512m", "tmpfs", "/run")
    Path("/run/lock").mkdir()
    _replace(disk / "resolv.conf", "/etc/resolv.conf")
    _replace(disk / "hosts", "/etc/hosts")
    _mount("-t", "proc", "proc", "/proc")
    _mount("--bind", "/proc/sys", "/proc/sys")
    _mount("--bind", "/proc/sys/net", "/proc/sys/net")
    _mount("-o", "remount,bind,ro", "/proc/sys")
    for name in _GUARDED:
        if Path("/proc/sys", name).exists():
            _mount("--bind", str(disk / "sysctl" / name), f"/proc/sys/{name}")
    _mount("--make-rshared", "/")  # volumes and containers propagate their mounts


def _replace(source: Path, target: str) -> None:
    real = Path(os.path.realpath(target))
    if real.exists():
        _mount("--bind", str(source), str(real))
    elif real.is_relative_to("/run"):  # a link into the host's /run, in place of which the node has its own
        real.parent.mkdir(parents=True, exist_ok=True)
        real.write_text(source.read_text())


def _mount(*arguments: str) -> None:
    done = subprocess.run(["mount", *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise BoxError(f"mount {' '.join(arguments)}: {' '.join(done.stderr.split())}")
