"""A box for the benchmarks: brought up for them, with the CRDs, and taken down after them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from box.layout import REPOSITORY
from tests.box.driving import Box

NAMESPACE = "bench"
CRDS = REPOSITORY / "deploy" / "crds"


@contextmanager
def a_box(nodes: int = 1) -> Iterator[Box]:
    box = Box("bench")
    try:
        box("up", "--fresh", "--nodes", str(nodes), timeout=900)
        box.kubectl("apply", "-f", str(CRDS))
        box.kubectl("wait", "--for=condition=Established", "--timeout=60s", "-f", str(CRDS))
        with box.namespace(NAMESPACE):
            yield box
    finally:
        box("down")
