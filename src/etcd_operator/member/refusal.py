"""Why a member's pod does not let etcd start, told where the operator reads it.

The guard waits inside for whatever may still come, so it ends only for a reason, and the reason is its termination
message: one line of JSON that the kubelet copies into the pod's status. The operator acts upon `reason`, people read
`message`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

LONGEST = 3000  # characters; the kubelet keeps 4096 bytes and would cut the JSON in two


class Reason(StrEnum):
    """Part of what users see: never rename one."""

    DNS_TIMEOUT = "DNSTimeout"
    DISK_LOST = "DiskLost"
    FOREIGN_DISK = "ForeignDisk"
    DISK_UNUSABLE = "DiskUnusable"
    BAD_SETTINGS = "BadSettings"
    GUARD_FAILED = "GuardFailed"


@dataclass(frozen=True)
class Refusal:
    reason: Reason
    message: str

    @property
    def line(self) -> str:
        return json.dumps({"reason": self.reason, "message": self.message[:LONGEST]})

    def report(self, termination_log: Path) -> None:
        """A file that cannot be written is no reason to start etcd: the log says the same."""
        print(self.line, flush=True)
        try:
            termination_log.write_text(self.line + "\n")
        except OSError as error:
            print(f"The termination message cannot be written: {error}.", flush=True)
