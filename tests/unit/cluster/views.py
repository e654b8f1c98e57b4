"""Views in as many words as a test needs."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from etcd_operator.plan.view import View
from tests.unit.cluster.clusters import a_cluster


def a_view(**known: Any) -> View:
    defaults = {
        "now": datetime(2026, 11, 15, 12, 0, tzinfo=UTC),
        "cluster": a_cluster(),
        "repository": "example.test/etcd",
        "policy": "p1",
        "suffixes": (),
    }
    return View(**{**defaults, **known})
