from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from etcd_operator.cluster.environment import etcd_environment, metrics_port
from etcd_operator.releases.variables import FLAGGED, HARMFUL, variables
from tests.unit.cluster.clusters import a_cluster, a_seed, container, pod_of

NAMES = st.sampled_from(sorted({*FLAGGED, *HARMFUL, *variables(), "ETCD_QUOTA_BACKEND_BYTES", "GOGC"}))


def environment(*entries: tuple[str, str]) -> list[tuple[str, str]]:
    theirs = [{"name": name, "value": value} for name, value in entries]
    return [(found["name"], found["value"]) for found in etcd_environment(a_cluster(pod={"etcdEnv": theirs}))]


@given(st.lists(st.tuples(NAMES, st.text("ab", max_size=2)), max_size=6))
def test_no_variable_is_there_twice_nor_beside_its_flag_and_the_users_win(entries: list[tuple[str, str]]) -> None:
    found = environment(*entries)
    names = [name for name, _ in found]

    assert len(names) == len(set(names))
    assert not {*FLAGGED, *HARMFUL} & set(names)
    assert dict(found) == {**dict(found), **{name: value for name, value in entries if name in names}}
    assert {*variables([name for name, _ in entries])} <= set(names)


def test_the_users_variables_come_after_ours_in_their_order() -> None:
    found = environment(("B", "1"), ("A", "$(B)"))

    assert found[-2:] == [("B", "1"), ("A", "$(B)")]


def test_a_variable_may_come_from_a_secret() -> None:
    entry = {"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "some", "key": "token"}}}

    assert etcd_environment(a_cluster(pod={"etcdEnv": [entry]}))[-1] == entry


@pytest.mark.parametrize(
    ("urls", "port"),
    [
        ("http://0.0.0.0:9379", 9379),
        ("https://0.0.0.0:9378,http://0.0.0.0:9379", 9379),
        ("https://0.0.0.0:9379", None),
        ("http://127.0.0.1:9379", None),
        ("http://localhost:9379", None),
        ("http://0.0.0.0:x", None),
        ("", None),
    ],
)
def test_probes_follow_a_listener_that_the_user_moved_or_are_left_out(urls: str, port: int | None) -> None:
    cluster = a_cluster(pod={"etcdEnv": [{"name": "ETCD_LISTEN_METRICS_URLS", "value": urls}]})
    etcd: dict[str, Any] = container(pod_of(cluster))

    assert metrics_port(cluster) == port
    assert [each["containerPort"] for each in etcd["ports"] if each["name"] == "metrics"] == ([port] if port else [])
    asked = {
        etcd[kind]["httpGet"]["port"] for kind in ("startupProbe", "livenessProbe", "readinessProbe") if kind in etcd
    }
    assert asked == ({port} if port else set())


@pytest.mark.parametrize("version", ["3.2.13", "3.3.27", "3.4.23", "3.5.35", "3.6.16", "3.7.3"])
def test_no_version_is_probed_by_a_shell_or_on_its_client_port(version: str) -> None:
    cluster = a_cluster()
    etcd = container(pod_of(cluster, a_seed(cluster, version)))

    found = [value for key, value in etcd.items() if key.endswith("Probe")]
    assert bool(found) == (version != "3.2.13")
    assert all(probe["httpGet"]["port"] == 2381 for probe in found)
