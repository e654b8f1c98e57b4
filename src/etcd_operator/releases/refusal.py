"""Why a version is not taken: one word for programs, a sentence for people, and where to go instead."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from etcd_operator.releases.version import Version


class Reason(enum.StrEnum):
    UNKNOWN_VERSION = "UnknownVersion"
    BAD_VERSION = "BadVersion"
    DOWNGRADE = "Downgrade"
    MINOR_SKIPPED = "MinorSkipped"
    WAYPOINT_NEEDED = "WaypointNeeded"


@dataclass(frozen=True)
class Refusal:
    reason: Reason
    sentence: str
    waypoint: Version | None = None  # what the version can be set to now, on the way to the one that was refused
