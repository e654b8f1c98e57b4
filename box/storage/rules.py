"""How an object storage is told to fail: one rule in one small file.

The commands write the file, the proxy reads it; no signal, no port. The proxy answers in a second file which rule it
follows and how many requests met it, so that a command returns only when its rule holds, and a test can count.
"""

from __future__ import annotations

import json
import secrets
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from box.layout import BoxError

MODES: dict[str, str] = {
    "ok": "works",
    "refuse": "connections are refused",
    "hang": "connections are accepted, requests never answered",
    "500": "requests are answered with 500 InternalError",
    "throttle": "requests are answered with 503 SlowDown (Azure: ServerBusy)",
    "cut": "the connection is cut in the middle of the upload, else of the download",
    "slow": "bodies pass with so many bytes per second",
}


@dataclass(frozen=True)
class Rule:
    """What goes wrong, with which requests, how often."""

    mode: str = "ok"
    count: int | None = None  # so many requests; then it works again
    method: str = ""
    match: str = ""  # in the path and query
    amount: int | None = None  # bytes before the cut, or bytes per second

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise BoxError(f"There is no fault '{self.mode}'; there are: {', '.join(MODES)}")
        if self.mode == "slow" and not self.amount:
            raise BoxError("'slow' needs a number of bytes per second, for example: slow 100000")
        if self.amount and self.mode not in ("cut", "slow"):
            raise BoxError(f"'{self.mode}' takes no number of bytes; 'cut' and 'slow' do.")
        if any(number is not None and number < 1 for number in (self.count, self.amount)):
            raise BoxError("Numbers of a fault begin at 1.")

    @property
    def selective(self) -> bool:
        """Whether a request must be read to know if it is meant."""
        return bool(self.count is not None or self.method or self.match)

    def meets(self, *, method: str, target: str, earlier: int) -> bool:
        """Whether a request is meant, after `earlier` others were."""
        return (
            self.mode != "ok"
            and (self.count is None or earlier < self.count)
            and (not self.method or method.upper() == self.method.upper())
            and self.match in target
        )

    def describe(self) -> str:
        if self.mode == "ok":
            return MODES["ok"]
        how = MODES[self.mode] + (f" ({self.amount} bytes)" if self.amount else "")
        which = {None: "all", 1: "the next"}.get(self.count, f"the next {self.count}")
        method = f" {self.method.upper()}" if self.method else ""
        match = f" with '{self.match}'" if self.match else ""
        return f"{how}: {which}{method} {'request' if self.count == 1 else 'requests'}{match}"


class FaultFile:
    """The rule's file and, beside it, the proxy's answer."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._answer = path.with_suffix(".followed")

    def set(self, rule: Rule, *, timeout: float = 0.0) -> None:
        """Write the rule; with a timeout, wait until the proxy follows it."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        _write(self.path, {"id": secrets.token_hex(8), **asdict(rule)})
        end = time.monotonic() + timeout
        while timeout and not self.followed():
            if time.monotonic() > end:
                raise BoxError(f"The storage did not take up the fault within {timeout:.0f} s; see: box logs")
            time.sleep(0.02)

    def get(self) -> tuple[str, Rule]:
        """Read the rule and the mark by which it is told from earlier ones; without a file all is well."""
        kept = _read(self.path)
        mark = str(kept.pop("id", ""))
        try:
            return mark, Rule(**kept)
        except TypeError as error:
            raise BoxError(f"{self.path} is not a fault: {error}") from error

    def followed(self) -> bool:
        return bool(_read(self._answer).get("id") == _read(self.path).get("id", ""))

    def forget(self) -> None:
        """Drop the answer, which a running proxy gives again: so one of an earlier run is not believed."""
        self._answer.unlink(missing_ok=True)

    def hits(self) -> int:
        """Count the requests that met the rule so far."""
        return int(_read(self._answer).get("hits", 0)) if self.followed() else 0

    def follow(self, mark: str, hits: int) -> None:
        """Say, as the proxy, which rule is followed and how many requests met it."""
        _write(self._answer, {"id": mark, "hits": hits})

    def version(self) -> tuple[int, int]:
        """Tell cheaply whether the rule may have changed."""
        try:
            status = self.path.stat()
        except FileNotFoundError:
            return (0, 0)
        return (status.st_mtime_ns, status.st_ino)

    def answered(self) -> bool:
        return self._answer.exists()


def _read(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text())
    except (FileNotFoundError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def _write(path: Path, content: dict[str, Any]) -> None:
    draft = path.with_name(path.name + ".draft")
    draft.write_text(json.dumps(content))
    draft.rename(path)
