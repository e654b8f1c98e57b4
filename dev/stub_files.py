"""The protobuf stubs, from our own proto file."""

from __future__ import annotations

from pathlib import Path


def texts() -> dict[Path, str]:
    return {}
