"""The API server's own etcd, reached past the API server: to let it forget the past, and to age what it stores."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any

from tests.box.driving import Box

ETCD = "http://127.0.0.1:2379"


def forget_the_past(box: Box) -> int:
    """Compacts at the present revision, as the API server does every five minutes; older versions are gone then.

    What the API server has in caches of its own it goes on serving until it is restarted. It has none of events.
    """
    revision = int(_ask(box, "range", {"key": _encoded("/registry/")})["header"]["revision"])
    _ask(box, "compaction", {"revision": str(revision), "physical": True})
    return revision


def rewrite(box: Box, path: str, change: Callable[[dict[str, Any]], None]) -> None:
    """Changes a stored object into something that an API server of today would not take, but one of old did."""
    key = _encoded(f"/registry/{path}")
    stored = json.loads(base64.b64decode(_ask(box, "range", {"key": key})["kvs"][0]["value"]))
    change(stored)
    _ask(box, "put", {"key": key, "value": _encoded(json.dumps(stored))})


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _ask(box: Box, call: str, body: dict[str, Any]) -> dict[str, Any]:
    """Etcd listens on the control plane's loopback alone."""
    command = ("curl", "-sS", "--fail-with-body", "-d", json.dumps(body), f"{ETCD}/v3/kv/{call}")
    answer: dict[str, Any] = json.loads(box("node", "run", "cp", "--", *command))
    return answer
