"""A member's pod as its guard sees it: variables and a volume; and the guard as the program that it is."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from box.layout import REPOSITORY
from etcd_operator.member import settings as pod
from etcd_operator.member.settings import Settings

UID = "5f0c4a52-1c1a-4c57-9a5e-0d5b7a1f7a11"
IDENTITY = '{"clusterID": "cdf818194e3a8c32", "memberID": "8e9e05c52164694d"}'
PATIENCE = 60.0

# `-I -S`: neither the tree's environment nor any installed package is there to lean on.
GUARD = (
    "import runpy, sys; "
    f"sys.path.insert(0, {str(REPOSITORY / 'src')!r}); "
    "runpy.run_module('etcd_operator.member', run_name='__main__', alter_sys=True)"
)
COMMAND = (sys.executable, "-I", "-S", "-c", GUARD)


@dataclass
class Pod:
    """One member's, with a volume of its own."""

    volume: Path
    variables: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.volume.mkdir(parents=True, exist_ok=True)
        self.variables = {
            "MEMBER_NAME": "demo-b",
            "CLUSTER_UID": UID,
            "MEMBER_HOST": "localhost",
            "DNS_TIMEOUT": "0",
            "DATA_DIR": str(self.data),
            "MARKER": str(self.marker),
            "INITIAL_CLUSTER": "demo-a=http://127.0.0.1:1,demo-b=http://127.0.0.1:2",
            "INITIAL_STATE": "existing",
            "IDENTITY": "",
            "TERMINATION_LOG": str(self.termination_log),
        } | self.variables

    @property
    def data(self) -> Path:
        return self.volume / "data"

    @property
    def marker(self) -> Path:
        return self.volume / "member.json"

    @property
    def termination_log(self) -> Path:
        return self.volume.with_name(f"{self.volume.name}.termination")

    @property
    def settings(self) -> Settings:
        return pod.read(self.variables)

    @property
    def said(self) -> dict[str, str]:
        """Its termination message."""
        found: dict[str, str] = json.loads(self.termination_log.read_text())
        return found

    def mark(self, *, cluster: str = UID, member: str = "demo-b") -> None:
        self.marker.write_text(json.dumps({"cluster": cluster, "member": member}))

    def fill(self, *files: str) -> None:
        """`member/wal/0.wal`, say, in the data directory."""
        for file in files:
            path = self.data / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"")

    def run(self, *before: str) -> int:
        """To its end; `before` is what the command is run by."""
        with self.running(*before) as guard:
            return guard.end()

    @contextmanager
    def running(self, *before: str) -> Iterator[Guard]:
        log = self.volume.with_name(f"{self.volume.name}.log")
        with log.open("wb") as output:
            process = subprocess.Popen([*before, *COMMAND], env=self.variables, stdout=output, stderr=output)
        try:
            yield Guard(process, log)
        finally:
            process.kill()
            process.wait(PATIENCE)


@dataclass
class Guard:
    process: subprocess.Popen[bytes]
    file: Path

    @property
    def log(self) -> list[str]:
        return self.file.read_text().splitlines()

    @property
    def waits(self) -> bool:
        return self.process.poll() is None

    def wait_for(self, words: str) -> None:
        until = time.monotonic() + PATIENCE
        while not any(words in line for line in self.log):
            assert self.waits, f"it ended without a word of {words!r}: {self.log}"
            assert time.monotonic() < until, f"no word of {words!r}: {self.log}"
            time.sleep(0.02)

    def terminate(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.end()

    def end(self) -> int:
        return self.process.wait(PATIENCE)
