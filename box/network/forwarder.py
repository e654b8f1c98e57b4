"""A cable with a delay: `python3 -m box.network.forwarder IF_A IF_B RULES_FILE`.

Forwards raw frames between two interfaces of its network namespace and holds some of them back, in both directions.
Not every kernel has netem. The rules are a JSON object of milliseconds, `{"all": 50}` or by IPv4 address
`{"198.19.1.7": 100}`: a frame from or to that address waits so long, the longest one counts, all others pass at once.
The file is looked at again when it changes.
"""

from __future__ import annotations

import errno
import heapq
import json
import select
import socket
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from box.layout import BoxError

ALL = "all"
LOOK_SECONDS = 0.2
BURST = 64
MOST_BYTES = 64 << 20  # held back per direction; more than a real cable of this length would carry

# From linux/if_packet.h and asm/socket.h; the socket module does not know them.
SOL_PACKET = 263
PACKET_VNET_HDR = 15
PACKET_IGNORE_OUTGOING = 23
SO_RCVBUFFORCE = 33
ETH_P_ALL = 3

VNET_HEADER = 10  # keeps what the kernel left for a network card to do: checksums, cutting into segments
LARGEST_FRAME = VNET_HEADER + 14 + (64 << 10)
ETHERTYPE = slice(VNET_HEADER + 12, VNET_HEADER + 14)
SOURCE = slice(VNET_HEADER + 26, VNET_HEADER + 30)
DESTINATION = slice(VNET_HEADER + 30, VNET_HEADER + 34)
IPV4 = b"\x08\x00"


@dataclass(frozen=True)
class Rules:
    """How long frames wait, in seconds: all of them, and those of some addresses."""

    everything: float = 0.0
    addresses: dict[bytes, float] = field(default_factory=dict)

    def delay(self, frame: bytes) -> float:
        """Find how long a frame, with its virtual network header, has to wait."""
        if not self.addresses or frame[ETHERTYPE] != IPV4:
            return self.everything
        known = self.addresses
        return max(self.everything, known.get(frame[SOURCE], 0.0), known.get(frame[DESTINATION], 0.0))


def parse_rules(text: str) -> Rules:
    try:
        told = {name: float(milliseconds) / 1000 for name, milliseconds in json.loads(text).items()}
        addresses = {socket.inet_aton(name): delay for name, delay in told.items() if name != ALL}
    except (ValueError, AttributeError, TypeError, OSError) as error:
        raise BoxError(f"These are no delays ({error}); they look like this: {json.dumps({ALL: 50})}") from error
    return Rules(everything=told.get(ALL, 0.0), addresses=addresses)


class RulesFile:
    """The rules as they are now; broken or missing ones leave the cable without a delay."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._version = (-1, -1)
        self._next_look = 0.0
        self.rules = Rules()

    def look(self, now: float) -> None:
        """Read the file again if it has changed; asked for every frame, it looks five times a second."""
        if now < self._next_look:
            return
        self._next_look = now + LOOK_SECONDS
        version = self._stat()
        if version == self._version:
            return
        self._version = version
        try:
            self.rules = parse_rules(self._path.read_text())
        except (FileNotFoundError, BoxError) as error:
            self.rules = Rules()
            print(error, flush=True)

    def _stat(self) -> tuple[int, int]:
        try:
            status = self._path.stat()
        except FileNotFoundError:
            return (0, 0)
        return (status.st_mtime_ns, status.st_ino)


class Held:
    """Frames on their way in one direction, in the order in which they are due; equal delays keep their order."""

    def __init__(self, most: int = MOST_BYTES) -> None:
        self._most = most
        self._bytes = 0
        self._count = 0
        self._frames: list[tuple[float, int, bytes]] = []
        self.dropped = 0

    def put(self, frame: bytes, due: float) -> None:
        """Hold a frame back; when too much is held already it is lost, as on a real line."""
        if self._bytes + len(frame) > self._most:
            self.dropped += 1
            return
        self._bytes += len(frame)
        self._count += 1
        heapq.heappush(self._frames, (due, self._count, frame))

    def take(self, now: float) -> bytes | None:
        if not self._frames or self._frames[0][0] > now:
            return None
        frame = heapq.heappop(self._frames)[2]
        self._bytes -= len(frame)
        return frame

    def next_due(self) -> float:
        return self._frames[0][0] if self._frames else float("inf")


class Side:
    """One end of the cable, and what is on its way to it."""

    def __init__(self, interface: str) -> None:
        self.interface = interface
        self.held = Held()
        try:
            self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
            self.socket.setsockopt(SOL_PACKET, PACKET_VNET_HDR, 1)
            self.socket.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
            self.socket.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 8 << 20)
            self.socket.bind((interface, 0))
        except OSError as error:
            raise BoxError(f"{interface} cannot be forwarded: {error.strerror}") from error
        self.socket.setblocking(False)

    def receive(self) -> bytes | None:
        """Take the next frame, if one has come."""
        try:
            return self.socket.recv(LARGEST_FRAME)
        except BlockingIOError:
            return None
        except OSError as error:
            if error.errno == errno.ENETDOWN and self._there():
                return None  # the link is down; the socket works again once it is up
            raise BoxError(f"{self.interface} is gone: {error.strerror}") from error

    def send_due(self, now: float) -> None:
        while (frame := self.held.take(now)) is not None:
            self.send(frame)

    def send(self, frame: bytes) -> None:
        try:
            self.socket.send(frame)
        except OSError:
            self.held.dropped += 1  # link down, queue full: the frame is lost, as on a real line

    def _there(self) -> bool:
        try:
            socket.if_nametoindex(self.interface)
        except OSError:
            return False
        return True


def forward(a: Side, b: Side, file: RulesFile) -> None:
    """Forward until an interface goes away."""
    other = {a.socket: b, b.socket: a}
    while True:
        now = time.monotonic()
        file.look(now)
        for side in (a, b):
            side.send_due(now)
        due = min(a.held.next_due(), b.held.next_due(), now + LOOK_SECONDS)
        ready, _, _ = select.select(list(other), [], [], max(0.0, due - time.monotonic()))
        for source in ready:
            _receive_burst(a if source is a.socket else b, other[source], file.rules)


def _receive_burst(source: Side, target: Side, rules: Rules) -> None:
    for _ in range(BURST):
        frame = source.receive()
        if frame is None:
            return
        delay = rules.delay(frame)
        if delay > 0:
            target.held.put(frame, time.monotonic() + delay)
        else:
            target.send(frame)


def main(arguments: list[str]) -> int:
    try:
        first, second, rules = arguments
    except ValueError:
        print("usage: python3 -m box.network.forwarder IF_A IF_B RULES_FILE")
        return 2
    try:
        forward(Side(first), Side(second), RulesFile(Path(rules)))
    except BoxError as error:
        print(error, flush=True)
    except KeyboardInterrupt:
        return 0
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
