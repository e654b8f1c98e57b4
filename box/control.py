"""How the commands talk to a running box: one JSON line each way over a unix socket.

A socket path may have 108 characters at most and a cache folder can be deeper than that, so the socket is addressed
through an open descriptor of its folder.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
from collections.abc import Iterator
from typing import Any

from box.layout import BoxError, Layout

_MAX_REPLY = 64 << 20


@contextlib.contextmanager
def short_path(layout: Layout) -> Iterator[str]:
    """The control socket by a name that is short enough for the kernel."""
    folder = os.open(layout.state, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{folder}/{layout.control.name}"
    finally:
        os.close(folder)


def call(layout: Layout, request: str, *, timeout: float = 60.0, **arguments: object) -> Any:
    """Asks the room for something and returns its answer; what it refuses comes back as a BoxError."""
    try:
        reply = _exchange(layout, {"request": request, **arguments}, timeout)
    except (FileNotFoundError, ConnectionRefusedError) as error:
        raise BoxError(f"the box is not running. Start it with: {layout.command('up')}") from error
    except PermissionError as error:
        raise BoxError(f"the box '{layout.name}' belongs to another user. Run it with: sudo -E") from error
    except TimeoutError as error:
        raise BoxError(f"the box did not answer '{request}' within {timeout:.0f} s. See: box logs room") from error
    if "error" in reply:
        raise BoxError(reply["error"])
    return reply.get("result")


def run_in_node(layout: Layout, node: str, argv: list[str], *, timeout: float = 60.0) -> tuple[int, str]:
    """Runs a command inside a node: its exit code, and what it printed."""
    done = call(layout, "node.run", timeout=timeout + 20.0, node=node, argv=argv, limit=timeout)
    return int(done["code"]), str(done["output"])


def run_in_room(layout: Layout, argv: list[str], *, timeout: float = 60.0) -> tuple[int, str]:
    """Runs a command beside the nodes, in the box's network."""
    done = call(layout, "room.run", timeout=timeout + 20.0, argv=argv, limit=timeout)
    return int(done["code"]), str(done["output"])


def answers(layout: Layout) -> bool:
    """Whether the room is there and listening."""
    try:
        call(layout, "ping", timeout=5.0)
    except (BoxError, OSError):
        return False
    return True


def _exchange(layout: Layout, message: dict[str, object], timeout: float) -> dict[str, Any]:
    with short_path(layout) as path, socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(timeout)
        connection.connect(path)
        connection.sendall(json.dumps(message).encode() + b"\n")
        chunks: list[bytes] = []
        while chunk := connection.recv(1 << 16):
            chunks.append(chunk)
            if sum(map(len, chunks)) > _MAX_REPLY:
                raise BoxError("the answer of the box is too long")
    if not chunks:
        raise BoxError("the box ended before it answered. See: box logs room")
    reply: dict[str, Any] = json.loads(b"".join(chunks))
    return reply
