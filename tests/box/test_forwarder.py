"""The cable with a delay: real frames between two network namespaces."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from box.layout import REPOSITORY

LEFT, RIGHT, RIGHT_TOO = "198.18.99.1", "198.18.99.2", "198.18.99.3"


class Cable:
    """Two network namespaces, and between them a third one with the forwarder."""

    def __init__(self, folder: Path) -> None:
        self.rules = folder / "rules.json"
        self.rules.write_text("{}")
        self._processes: list[subprocess.Popen[bytes]] = []
        self.left, self.middle, self.right = (self._namespace() for _ in range(3))
        for side, port in ((self.left, "pa"), (self.right, "pb")):
            self._ip(self.middle, f"link add {port} type veth peer name eth0 netns {side}")
            self._ip(self.middle, f"link set {port} up")
            self._ip(side, "link set eth0 up")
        self._ip(self.left, f"addr add {LEFT}/24 dev eth0")
        self._ip(self.right, f"addr add {RIGHT}/24 dev eth0")
        self._ip(self.right, f"addr add {RIGHT_TOO}/24 dev eth0")
        self.forwarder = self._start(
            self.middle, sys.executable, "-m", "box.network.forwarder", "pa", "pb", str(self.rules)
        )
        self._start(self.right, sys.executable, "-c", ECHO)
        self.round_trip(RIGHT)

    def round_trip(self, address: str) -> float:
        """The shortest of a few round trips in milliseconds, on a connection that is open already."""
        return float(self._run(self.left, sys.executable, "-c", ASK, address))

    def throughput(self, address: str) -> float:
        """MiB per second."""
        return float(self._run(self.left, sys.executable, "-c", FLOOD, address))

    def delay(self, rules: dict[str, float]) -> None:
        draft = self.rules.with_suffix(".draft")
        draft.write_text(json.dumps(rules))
        draft.rename(self.rules)
        time.sleep(0.3)

    def set_link(self, state: str) -> None:
        self._ip(self.middle, f"link set pa {state}")

    def close(self) -> None:
        for process in reversed(self._processes):
            process.kill()
            process.wait()

    def _namespace(self) -> int:
        process = subprocess.Popen(["unshare", "--net", "sleep", "infinity"])
        self._processes.append(process)
        end = time.monotonic() + 5
        while os.readlink(f"/proc/{process.pid}/ns/net") == os.readlink("/proc/self/ns/net"):
            assert time.monotonic() < end
            time.sleep(0.01)
        return process.pid

    def _start(self, namespace: int, *argv: str) -> subprocess.Popen[bytes]:
        entry = ["nsenter", f"--net=/proc/{namespace}/ns/net", *argv]
        process = subprocess.Popen(entry, cwd=REPOSITORY)
        self._processes.append(process)
        return process

    def _run(self, namespace: int, *argv: str) -> str:
        entry = ["nsenter", f"--net=/proc/{namespace}/ns/net", *argv]
        return subprocess.run(entry, check=True, capture_output=True, text=True, timeout=60).stdout

    def _ip(self, namespace: int, command: str) -> None:
        self._run(namespace, "ip", *command.split())


ECHO = """
import socket, threading
def serve(connection):
    with connection:
        kind = connection.recv(1)
        while data := connection.recv(1 << 18):
            if kind == b"e": connection.sendall(data)
        if kind == b"f": connection.sendall(b"done")
server = socket.create_server(("", 7777))
while True:
    threading.Thread(target=serve, args=(server.accept()[0],), daemon=True).start()
"""

CONNECT = """
import socket, sys, time
end = time.monotonic() + 10
while True:
    try:
        s = socket.create_connection((sys.argv[1], 7777), 10)
        break
    except OSError:
        if time.monotonic() > end: raise
        time.sleep(0.05)
s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
"""

ASK = (
    CONNECT
    + """
s.sendall(b"e")
times = []
for _ in range(5):
    begin = time.monotonic(); s.sendall(b"x"); s.recv(1); times.append(time.monotonic() - begin)
print(min(times) * 1000)
"""
)

FLOOD = (
    CONNECT
    + """
s.sendall(b"f")
block, begin = bytes(1 << 20), time.monotonic()
for _ in range(64): s.sendall(block)
s.shutdown(socket.SHUT_WR); assert s.recv(4) == b"done"
print(64 / (time.monotonic() - begin))
"""
)


@pytest.fixture(scope="module")
def cable(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cable]:
    laid = Cable(tmp_path_factory.mktemp("cable"))
    yield laid
    laid.close()


def test_a_round_trip_takes_twice_the_delay(cable: Cable) -> None:
    cable.delay({"all": 40})

    assert 80 <= cable.round_trip(RIGHT) < 110


def test_only_the_address_that_is_meant_is_delayed(cable: Cable) -> None:
    cable.delay({RIGHT_TOO: 40})

    assert 80 <= cable.round_trip(RIGHT_TOO) < 110
    assert cable.round_trip(RIGHT) < 20


def test_without_a_rule_frames_pass_at_once_and_fast(cable: Cable) -> None:
    cable.delay({})

    assert cable.round_trip(RIGHT) < 20
    assert cable.throughput(RIGHT) > 20


def test_a_link_that_was_down_works_again(cable: Cable) -> None:
    cable.delay({})
    cable.set_link("down")
    time.sleep(0.3)
    cable.set_link("up")

    assert cable.round_trip(RIGHT) < 20
    assert cable.forwarder.poll() is None
