"""The CRDs and the reference pages of the documentation, from the types."""

from __future__ import annotations

from pathlib import Path


def texts() -> dict[Path, str]:
    return {}
