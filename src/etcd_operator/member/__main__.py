"""The init step of a member's pod: `python3 -I -m etcd_operator.member`."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from types import FrameType

from etcd_operator.member.guard import guard
from etcd_operator.member.refusal import Reason, Refusal


def stop(number: int, _: FrameType | None) -> None:
    raise SystemExit(128 + number)


def main() -> int:
    # The first process of a container gets no signal that it has not asked for.
    signal.signal(signal.SIGTERM, stop)
    termination_log = Path(os.environ.get("TERMINATION_LOG") or "/dev/termination-log")
    try:
        outcome = guard(os.environ)
    except Exception as error:
        Refusal(Reason.GUARD_FAILED, f"The guard itself failed, and etcd stays off: {error!r}.").report(termination_log)
        raise
    if isinstance(outcome, Refusal):
        outcome.report(termination_log)
        return 1
    print(f"{outcome.why} etcd may start.", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
