from __future__ import annotations

import pytest

from etcd_operator.releases.known import KNOWN, Known
from etcd_operator.releases.probes import Probes, probes
from etcd_operator.releases.version import Version

HEALTH = "/health?exclude=NOSPACE"
LOCAL = "/health?serializable=true"


@pytest.mark.parametrize(
    ("version", "liveness", "readiness"),
    [
        ("3.3.0", "/metrics", None),
        ("3.3.27", "/metrics", None),
        ("3.4.15", "/metrics", None),
        ("3.4.16", "/metrics", HEALTH),
        ("3.4.28", "/metrics", HEALTH),
        ("3.4.29", "/livez", "/readyz"),
        ("3.5.0", "/metrics", HEALTH),
        ("3.5.2", "/metrics", HEALTH),
        ("3.5.3", LOCAL, HEALTH),
        ("3.5.10", LOCAL, HEALTH),
        ("3.5.11", "/livez", "/readyz"),
        ("3.6.0", "/livez", "/readyz"),
        ("3.7.3", "/livez", "/readyz"),
    ],
)
def test_each_version_is_asked_what_it_can_answer(version: str, liveness: str, readiness: str | None) -> None:
    asked = probes(Version.parse(version))

    assert asked.liveness
    assert asked.liveness.path == liveness
    assert (asked.readiness.path if asked.readiness else None) == readiness


def test_3_2_is_not_asked_at_all() -> None:
    assert probes(Version.parse("3.2.13")) == Probes()


@pytest.mark.parametrize("row", KNOWN[1:], ids=lambda row: str(row.series))
def test_a_slow_start_is_waited_for_before_a_member_can_be_found_dead(row: Known) -> None:
    asked = probes(row.newest)

    assert asked.startup
    assert asked.liveness
    assert asked.startup.path == asked.liveness.path
    assert asked.startup.period * asked.startup.failures >= 3600
    assert asked.liveness.period * asked.liveness.failures >= 180
