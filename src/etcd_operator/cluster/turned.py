"""What became of one turn, for whoever counts and tells."""

from __future__ import annotations

from dataclasses import dataclass

from etcd_operator.api.cluster import ClusterStatus
from etcd_operator.kube.store import Key


@dataclass(frozen=True, kw_only=True)
class Turned:
    key: Key
    status: ClusterStatus | None  # None: none could be made
    step: str
    why: str
    seconds: float
    error: str | None = None  # one word
    trouble: str = ""  # the sentence to it
