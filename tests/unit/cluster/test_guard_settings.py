"""What a pod tells its guard is what the guard reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from etcd_operator.member.settings import Identity, PeerFiles, Settings, State, read
from tests.unit.cluster.clusters import (
    BOTH_TLS,
    CLAIM,
    CLIENT_TLS,
    FIRST,
    SECOND,
    THIRD,
    UID,
    a_cluster,
    a_joiner,
    a_returning,
    a_seed,
    container,
    pod_of,
)


def value_of(variable: Any, pod: Any) -> str:
    """As the kubelet would fill it in."""
    if "value" in variable:
        return str(variable["value"])
    path = variable["valueFrom"]["fieldRef"]["fieldPath"]
    if path == "status.podIPs":
        return "10.1.2.3,fd00::3"
    key = path.removeprefix("metadata.annotations['").removesuffix("']")
    return str(pod["metadata"]["annotations"].get(key, ""))


def settings_in(pod: Any, *, of: str = "check-dns") -> Settings:
    return read({variable["name"]: value_of(variable, pod) for variable in container(pod, of)["env"]})


def test_a_seed_is_told_that_it_is_alone_and_new() -> None:
    cluster = a_cluster()

    found = settings_in(pod_of(cluster, a_seed(cluster)))

    assert (found.member, found.cluster_uid, found.state) == (FIRST, UID, State.NEW)
    assert found.host == f"{FIRST}.demo.prod.svc"
    assert found.own_urls == {f"http://{FIRST}.demo.prod.svc:2380"}
    assert found.peers == {}
    assert found.addresses == {"10.1.2.3", "fd00::3"}
    assert (found.identity, found.peer_files, found.dns_timeout) == (None, None, None)


def test_a_joiner_is_told_whom_to_ask() -> None:
    cluster = a_cluster()

    found = settings_in(pod_of(cluster, a_joiner(cluster)))

    assert found.state is State.EXISTING
    assert set(found.peers.values()) == {FIRST, SECOND}
    assert set(found.initial_cluster) == {FIRST, SECOND, THIRD}


def test_a_member_that_comes_back_is_told_who_it_was() -> None:
    cluster = a_cluster(pod={"persistentVolumeClaimSpec": CLAIM})

    found = settings_in(pod_of(cluster, a_returning(cluster)))

    assert found.identity == Identity("cdf818194e3a8c32", "8e9e05c52164694d")
    assert found.state is State.EXISTING


def test_an_identity_that_a_user_makes_up_does_not_reach_the_guard() -> None:
    cluster = a_cluster(pod={"annotations": {"etcd.database.coreos.com/identity": "{}"}})

    assert settings_in(pod_of(cluster)).identity is None
    assert settings_in(pod_of(cluster, a_returning(cluster))).identity == Identity(
        "cdf818194e3a8c32", "8e9e05c52164694d"
    )


def test_the_guard_finds_its_data_and_its_certificates_where_they_are_mounted() -> None:
    pod = pod_of(a_cluster(TLS=BOTH_TLS))
    found = settings_in(pod)

    places = [Path(mount["mountPath"]) for mount in container(pod, "check-dns")["volumeMounts"]]
    folder = Path("/etc/etcdtls/member/peer-tls")
    assert places == [Path("/var/etcd"), folder]
    assert found.peer_files == PeerFiles(folder / "peer-ca.crt", folder / "peer.crt", folder / "peer.key")
    assert found.marker == places[0] / "member.json"
    assert f"--data-dir={found.data_dir}" in container(pod)["command"]


def test_without_certificates_for_peers_the_guard_has_none() -> None:
    pod = pod_of(a_cluster(TLS=CLIENT_TLS))

    assert settings_in(pod).peer_files is None
    assert [mount["name"] for mount in container(pod, "check-dns")["volumeMounts"]] == ["etcd-data"]


@pytest.mark.parametrize(("busybox", "guard"), [("", "check-dns"), ("busybox:1.36", "guard")])
def test_the_guard_comes_last_and_keeps_the_time_limit_of_the_dns_check(busybox: str, guard: str) -> None:
    pod = pod_of(a_cluster(pod={"busyboxImage": busybox, "DNSTimeoutInSecond": 30}))

    assert pod["spec"]["initContainers"][-1]["name"] == guard
    assert settings_in(pod, of=guard).dns_timeout == 30
