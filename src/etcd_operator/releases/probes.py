"""How the kubelet finds out about a member, per version.

All probes go to the metrics listener, in plain text. The client port is no place for them: with client certificates
the kubelet cannot pass, and after a restart without a quorum it takes connections and answers nothing, so that a
liveness probe there would restart the member for ever. 3.2 has no such listener and gets no probes; whether it serves
is then said by the readiness gate alone, which the operator sets.

Liveness must not depend on other members, or a lost quorum would become a storm of restarts. Where etcd has no path
that reads only what is on its own disk, the metrics themselves show that the process answers.

Readiness must not depend on a full database: it is emptied through the client service. So where `/health` counts that
as ill and cannot be asked not to, there is no readiness probe, and again the gate decides.
"""

from __future__ import annotations

from dataclasses import dataclass

from etcd_operator.releases.capabilities import Capability, can
from etcd_operator.releases.version import Version

# Path and the first patch of each series that serves it. Newer series have it from their beginning.
LIVE: tuple[tuple[str, tuple[Version, ...]], ...] = (
    ("/livez", (Version(3, 4, 29), Version(3, 5, 11), Version(3, 6))),
    ("/health?serializable=true", (Version(3, 5, 3),)),
    ("/metrics", (Version(3, 3),)),
)
READY: tuple[tuple[str, tuple[Version, ...]], ...] = (
    ("/readyz", (Version(3, 4, 29), Version(3, 5, 11), Version(3, 6))),
    ("/health?exclude=NOSPACE", (Version(3, 4, 16), Version(3, 5))),
)


@dataclass(frozen=True)
class Probe:
    """One kind of question, in seconds, on the metrics listener."""

    path: str
    period: int
    timeout: int
    failures: int  # in a row, until the kubelet acts


@dataclass(frozen=True)
class Probes:
    startup: Probe | None = None
    liveness: Probe | None = None
    readiness: Probe | None = None


def probes(version: Version) -> Probes:
    if not can(version, Capability.METRICS_LISTENER):
        return Probes()
    live, ready = _path(LIVE, version), _path(READY, version)
    return Probes(
        # Nothing answers until the database is read, which takes minutes where it is large: an hour, then, and a
        # question every second, since the other two wait for the answer.
        startup=Probe(live, period=1, timeout=5, failures=3600) if live else None,
        # A defragmentation stops even local reads for as long as it takes.
        liveness=Probe(live, period=20, timeout=10, failures=15) if live else None,
        readiness=Probe(ready, period=5, timeout=5, failures=3) if ready else None,
    )


def _path(rows: tuple[tuple[str, tuple[Version, ...]], ...], version: Version) -> str | None:
    return next((path for path, since in rows if _served(since, version)), None)


def _served(since: tuple[Version, ...], version: Version) -> bool:
    """A patch of one series brings nothing to the next, which may have branched off before."""
    inside = [first for first in since if first.series == version.series]
    return version >= inside[0] if inside else version >= max(since)
