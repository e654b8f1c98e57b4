"""How much memory and CPU a box takes: proportional set sizes, and CPU time counted by its cgroup."""

from __future__ import annotations

import contextlib
import time
from collections import defaultdict
from pathlib import Path

from box import cgroups
from box.layout import Layout


def memory(layout: Layout) -> dict[str, int]:
    """Bytes by program; memory that several processes share is divided among them."""
    sums: dict[str, int] = defaultdict(int)
    for pid in cgroups.processes(layout.cgroup):
        with contextlib.suppress(OSError):  # it may end while we look
            name = Path(f"/proc/{pid}/comm").read_text().strip()
            for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
                if line.startswith("Pss:"):
                    sums[name] += int(line.split()[1]) << 10
    return dict(sums)


def cores(layout: Layout, seconds: float) -> float:
    """Processors in use, on average over a while."""
    before, begun = cgroups.cpu_seconds(layout.cgroup), time.monotonic()
    time.sleep(seconds)
    return (cgroups.cpu_seconds(layout.cgroup) - before) / (time.monotonic() - begun)


def report(layout: Layout, seconds: float) -> list[str]:
    used = cores(layout, seconds)
    sizes = memory(layout)
    lines = [f"{name:20} {size / 1e6:7.0f} MB" for name, size in sorted(sizes.items(), key=lambda item: -item[1])]
    return [
        *lines,
        f"{'memory (PSS)':20} {sum(sizes.values()) / 1e6:7.0f} MB",
        f"{'CPU':20} {used:7.2f} cores over {seconds:g} s",
    ]
