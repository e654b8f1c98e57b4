"""The variables of the pod, read once and refused with the name of the one that is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from etcd_operator.member.settings import Identity, PeerFiles, SettingsError, State
from tests.unit.member.pods import IDENTITY, UID, Pod

FILES = {"PEER_CA": "/tls/peer-ca.crt", "PEER_CERT": "/tls/peer.crt", "PEER_KEY": "/tls/peer.key"}


def pod(tmp_path: Path, **changes: str) -> Pod:
    return Pod(tmp_path / "volume", changes)


def test_everything_is_read(tmp_path: Path) -> None:
    cluster = "demo-a=https://a.demo.ns.svc:2380,demo-b=https://b.demo.ns.svc:2380"
    made = pod(tmp_path, DNS_TIMEOUT="2.5", POD_IP="10.1.2.3,fd00:0::1", INITIAL_CLUSTER=cluster, IDENTITY=IDENTITY)
    made.variables |= FILES

    settings = made.settings

    assert (settings.member, settings.cluster_uid, settings.host) == ("demo-b", UID, "localhost")
    assert settings.addresses == {"10.1.2.3", "fd00::1"}
    assert settings.dns_timeout == 2.5
    assert (settings.data_dir, settings.marker) == (made.data, made.marker)
    assert settings.state is State.EXISTING
    assert settings.identity == Identity(cluster_id="cdf818194e3a8c32", member_id="8e9e05c52164694d")
    assert settings.peer_files == PeerFiles(
        ca=Path("/tls/peer-ca.crt"), certificate=Path("/tls/peer.crt"), key=Path("/tls/peer.key")
    )
    assert settings.peers == {"https://a.demo.ns.svc:2380": "demo-a"}
    assert settings.own_urls == {"https://b.demo.ns.svc:2380"}


def test_what_may_be_missing_is_nothing_special(tmp_path: Path) -> None:
    made = pod(tmp_path)
    del made.variables["DNS_TIMEOUT"], made.variables["IDENTITY"]

    assert made.settings.dns_timeout is None
    assert made.settings.identity is None
    assert made.settings.addresses == frozenset()
    assert made.settings.peer_files is None


def test_a_member_with_two_urls_is_one_member(tmp_path: Path) -> None:
    cluster = "demo-b=http://b:2380,demo-a=http://a:2380,demo-a=http://a:2390"

    settings = pod(tmp_path, INITIAL_CLUSTER=cluster).settings

    assert settings.initial_cluster == {"demo-a": {"http://a:2380", "http://a:2390"}, "demo-b": {"http://b:2380"}}
    assert settings.peers == {"http://a:2380": "demo-a", "http://a:2390": "demo-a"}


@pytest.mark.parametrize("text", ["yes", '"yes"', "[]", '{"clusterID": 7'])
def test_an_identity_that_cannot_be_read_still_says_that_the_member_ran(tmp_path: Path, text: str) -> None:
    assert pod(tmp_path, IDENTITY=text).settings.identity == Identity(cluster_id="unknown", member_id="unknown")


@pytest.mark.parametrize("name", ["MEMBER_NAME", "CLUSTER_UID", "MEMBER_HOST", "DATA_DIR", "MARKER"])
@pytest.mark.parametrize("value", ["", " "])
def test_what_must_be_set_is_named_when_it_is_not(tmp_path: Path, name: str, value: str) -> None:
    with pytest.raises(SettingsError, match=f"{name} is not set"):
        _ = pod(tmp_path, **{name: value}).settings


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("DNS_TIMEOUT", "soon", "DNS_TIMEOUT is 'soon'"),
        ("DNS_TIMEOUT", "-1", "DNS_TIMEOUT is '-1'"),
        ("DNS_TIMEOUT", "nan", "DNS_TIMEOUT is 'nan'"),
        ("POD_IP", "10.1.2", "POD_IP holds what is no address"),
        ("INITIAL_STATE", "newish", "neither 'new' nor 'existing'"),
        ("INITIAL_CLUSTER", "demo-a=http://a:2380", "INITIAL_CLUSTER has no demo-b"),
        ("INITIAL_CLUSTER", "demo-b", "holds 'demo-b'"),
        ("INITIAL_CLUSTER", "demo-b=b:2380", "holds 'demo-b=b:2380'"),
        ("INITIAL_CLUSTER", "demo-b=http://b:port", "holds 'demo-b=http://b:port'"),
        ("INITIAL_CLUSTER", "demo-b=http://b:2380/", "holds 'demo-b=http://b:2380/'"),
        ("INITIAL_CLUSTER", "demo-b=https://b:2380", "PEER_CA, PEER_CERT and PEER_KEY are not set"),
        ("PEER_CA", "/tls/peer-ca.crt", "PEER_CERT and PEER_KEY must be set"),
    ],
)
def test_a_wrong_variable_is_named_with_what_it_holds(tmp_path: Path, name: str, value: str, words: str) -> None:
    with pytest.raises(SettingsError) as refused:
        _ = pod(tmp_path, **{name: value}).settings

    assert words in str(refused.value)
