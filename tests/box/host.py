"""What a box could leave behind on its host, as one value to compare."""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass, fields
from pathlib import Path

from box import cgroups

# Values that the kernel or other programs change by themselves.
_MOVING = re.compile(
    r"/(random/|fs/(dentry-state|inode-(nr|state)|file-nr|quota/|aio-nr)|ns_last_pid|pty/nr|sched_domain|"
    r"conntrack_(count|buckets)|user/|usermodehelper/|spl|debug/|perf_event_|net/netfilter/nf_conntrack_)"
)


@dataclass(frozen=True)
class Host:
    """Everything a box has to give back."""

    mounts: frozenset[str]
    namespaces: frozenset[str]
    groups: frozenset[str]
    links: frozenset[str]
    routes: frozenset[str]
    rules: str
    sysctls: frozenset[str]
    loops: frozenset[str]
    folders: frozenset[str]

    def changes(self, later: Host) -> dict[str, object]:
        """What is different later, by kind."""
        found: dict[str, object] = {}
        for field in fields(self):
            before, after = getattr(self, field.name), getattr(later, field.name)
            if before != after:
                found[field.name] = sorted(before ^ after) if isinstance(before, frozenset) else (before, after)
        return found


def look() -> Host:
    return Host(
        mounts=frozenset(line.split(" - ")[0].split(" ", 3)[3] for line in _lines("/proc/self/mountinfo")),
        namespaces=frozenset(_namespaces()),
        groups=frozenset(_groups()),
        links=frozenset(line.split(":")[1].strip() for line in _run("ip", "-o", "link").splitlines()),
        routes=frozenset(_run("ip", "route", "show", "table", "all").splitlines()),
        rules=_run("nft", "list", "ruleset"),
        sysctls=frozenset(_sysctls()),
        loops=frozenset(_run("losetup", "--list", "--noheadings", "--output", "BACK-FILE").split()),
        folders=frozenset(str(path) for top in ("/run", "/opt", "/tmp") for path in Path(top).glob("box-*")),
    )


def processes_naming(text: str) -> list[str]:
    """The command lines of the host's processes that mention a text."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if text in line and folder.name != str(os.getpid()):
            found.append(f"{folder.name} {line}")
    return found


def _namespaces() -> set[str]:
    found = set()
    for folder in Path("/proc").glob("[0-9]*/ns"):
        for kind in ("net", "mnt", "pid", "uts", "ipc"):
            try:
                found.add(os.readlink(folder / kind))
            except OSError:
                continue
    return found


def _groups() -> set[str]:
    trees, _ = cgroups.hierarchies()
    return {folder for tree in trees for folder, _, _ in os.walk(tree)}


def _sysctls() -> set[str]:
    found = set()
    for folder, _, names in os.walk("/proc/sys"):
        for name in names:
            path = f"{folder}/{name}"
            if _MOVING.search(path):
                continue
            try:
                found.add(f"{path}={Path(path).read_text(errors='replace').strip()}")
            except OSError:
                continue
    return found


def _lines(path: str) -> list[str]:
    return Path(path).read_text().splitlines()


def _run(*argv: str) -> str:
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout
