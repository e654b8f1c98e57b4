from __future__ import annotations

from typing import Any

import pytest

from etcd_operator.cluster.command import etcd_command
from etcd_operator.cluster.launch import Launch
from etcd_operator.member.settings import State
from etcd_operator.releases.variables import FLAGGED
from tests.unit.cluster.clusters import (
    BOTH_TLS,
    CLIENT_TLS,
    FIRST,
    IDENTITY,
    PEER_TLS,
    SECOND,
    THIRD,
    UID,
    a_cluster,
    a_joiner,
    a_returning,
    a_seed,
    a_start,
    urls,
)

ALWAYS = [
    "--data-dir",
    "--name",
    "--initial-advertise-peer-urls",
    "--listen-peer-urls",
    "--listen-client-urls",
    "--advertise-client-urls",
    "--initial-cluster",
    "--initial-cluster-state",
]
PEER = ["--peer-client-cert-auth", "--peer-trusted-ca-file", "--peer-cert-file", "--peer-key-file"]
CLIENT = ["--client-cert-auth", "--trusted-ca-file", "--cert-file", "--key-file"]
TOKEN = ["--initial-cluster-token"]


def flags(launch: Launch, **spec: Any) -> list[str]:
    return [word.partition("=")[0] for word in etcd_command(a_cluster(**spec), launch)[1:]]


@pytest.mark.parametrize(
    ("tls", "more"), [(None, []), (PEER_TLS, PEER), (CLIENT_TLS, CLIENT), (BOTH_TLS, PEER + CLIENT)]
)
def test_the_flags_are_those_documented_in_their_order(tls: Any, more: list[str]) -> None:
    cluster = a_cluster(TLS=tls)

    assert flags(a_seed(cluster), TLS=tls) == ALWAYS + more + TOKEN
    assert flags(a_joiner(cluster), TLS=tls) == ALWAYS + more
    assert flags(a_returning(cluster), TLS=tls) == ALWAYS + more


def test_what_is_a_flag_is_known_not_to_be_a_variable() -> None:
    used = flags(a_seed(a_cluster()), TLS=BOTH_TLS)

    assert {f"ETCD_{flag[2:].upper().replace('-', '_')}" for flag in used} == FLAGGED


def test_each_try_to_seed_a_cluster_has_a_token_of_its_own() -> None:
    cluster = a_cluster()

    assert a_seed(cluster).token == f"{UID}-1"
    assert a_joiner(cluster).token == ""


def test_tls_shows_in_the_urls_of_its_side_only() -> None:
    words = etcd_command(a_cluster(TLS=CLIENT_TLS), a_seed(a_cluster(TLS=CLIENT_TLS)))

    assert f"--advertise-client-urls=https://{FIRST}.demo.prod.svc:2379" in words
    assert "--listen-client-urls=https://0.0.0.0:2379" in words
    assert f"--initial-advertise-peer-urls=http://{FIRST}.demo.prod.svc:2380" in words
    assert "--listen-peer-urls=http://0.0.0.0:2380" in words


def test_a_joiner_names_all_members_and_itself_once() -> None:
    others = {FIRST: frozenset({"http://a:2380"}), SECOND: frozenset({"http://b2:2380", "http://b1:2380"})}
    cluster = a_cluster()

    launch = a_start(cluster, THIRD, version="3.6.16", peers={**others, **urls(cluster, THIRD)})

    assert launch.initial_cluster_flag == (
        f"{THIRD}=http://{THIRD}.demo.prod.svc:2380,{SECOND}=http://b1:2380,{SECOND}=http://b2:2380,{FIRST}=http://a:2380"
    )


def test_a_member_that_comes_back_keeps_the_name_that_etcd_knows_it_by() -> None:
    cluster = a_cluster(pod={"ClusterDomain": ".new.test"})
    members = {FIRST: frozenset({f"http://{FIRST}.demo.prod.svc.old.test:2380"})}

    launch = a_start(cluster, FIRST, version="v3.6.16", peers=members, identity=IDENTITY, on_claim=True)

    words = etcd_command(cluster, launch)
    assert f"--advertise-client-urls=http://{FIRST}.demo.prod.svc.old.test:2379" in words
    assert f"--initial-advertise-peer-urls=http://{FIRST}.demo.prod.svc.old.test:2380" in words
    assert (launch.state, launch.on_claim, launch.version) == (State.EXISTING, True, "3.6.16")
