"""Known faults of etcd's releases: what each does to a user, and the patch that ends it.

A fault is written down per series, because a fix goes into each series with a patch of its own. Series that the etcd
project no longer repairs have most of these faults for ever; for them one row says so, and the faults that were never
looked at there are not guessed.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

from etcd_operator.releases.known import known
from etcd_operator.releases.version import Version


class Severity(enum.Enum):
    REFUSE = "refuse"  # never a target: neither for a new cluster nor for a running one
    WARN = "warn"


@dataclass(frozen=True)
class Caution:
    """What there is to say about one version."""

    severity: Severity
    text: str
    fixed_in: Version | None  # within the same series


@dataclass(frozen=True)
class Span:
    """Versions of one series, from the first with a fault up to the one without it."""

    first: Version
    fixed: Version

    def __contains__(self, version: object) -> bool:
        return isinstance(version, Version) and self.first <= version < self.fixed


@dataclass(frozen=True)
class Fault:
    text: str
    spans: tuple[Span, ...]
    severity: Severity = Severity.WARN


def _until(*fixed: str) -> tuple[Span, ...]:
    """Faulty from the beginning of each series up to these."""
    return tuple(Span(Version(end.major, end.minor), end) for end in map(Version.parse, fixed))


def _just(*versions: str) -> tuple[Span, ...]:
    return tuple(Span(one, one._replace(patch=one.patch + 1)) for one in map(Version.parse, versions))


# The gravest first, then the newest.
FAULTS: tuple[Fault, ...] = (
    Fault(
        "after a crash under load, committed data is missing on some members",
        _until("3.5.3"),
        Severity.REFUSE,
    ),
    Fault("a cluster of one member may lose an acknowledged write in a crash", _until("3.4.21", "3.5.5")),
    Fault(
        "a snapshot that a member receives while it is defragmented may corrupt it", _until("3.4.38", "3.5.23", "3.6.5")
    ),
    Fault("a member killed during defragmentation may disagree about the revision", _until("3.5.6")),
    Fault(
        "after a crash during compaction the revision may go back, and messages for another member are not ignored",
        _until("3.4.32", "3.5.14"),
    ),
    Fault(
        "a client can exhaust a member with TLS handshakes (GHSA-6vch-q96h-7gc3), and a watch can read beyond "
        "the keys it is granted (GHSA-xg4h-6gfc-h4m8)",
        _until("3.5.33", "3.6.14", "3.7.1"),
    ),
    Fault("updating the peer address of a learner makes it a voter in the member list", _until("3.5.31", "3.6.12")),
    Fault(
        "CVE-2026-44283, and no member can be added while one is down although a quorum is there",
        _until("3.4.44", "3.5.30", "3.6.11"),
    ),
    Fault(
        "a member that was paused may answer with old data; authentication can be passed by "
        "(CVE-2026-33413, CVE-2026-33343)",
        _until("3.4.42", "3.5.28", "3.6.9"),
    ),
    Fault(
        "with authentication on, only administrators may list members and alarms",
        _just("3.4.42", "3.5.28", "3.6.9"),
    ),
    Fault("removed members may come back in an upgrade to 3.6", _until("3.5.26")),
    Fault(
        "the promotion of a learner is not kept where 3.6 will look for it",
        (Span(Version(3, 5, 1), Version(3, 5, 20)),),
    ),
    Fault("a learner that never started could be promoted", _until("3.4.24", "3.5.7")),
)


def cautions(version: Version) -> tuple[Caution, ...]:
    """What is known against a version; nothing, for the newest ones."""
    found = [
        Caution(fault.severity, fault.text, span.fixed) for fault in FAULTS for span in fault.spans if version in span
    ]
    row = known(version.series)
    if row and not row.supported:
        text = f"the etcd project no longer repairs {version.series}"
        found.append(Caution(Severity.WARN, text, fixed_in=None))
    return tuple(found)
