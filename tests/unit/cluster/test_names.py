from __future__ import annotations

import pytest

from etcd_operator.api.cluster_names import SUFFIX_ALPHABET, SUFFIX_LENGTH, host, member_at, member_name, peer_url
from etcd_operator.api.kinds import CLUSTER_NAME
from etcd_operator.cluster.claim import member_claim
from tests.unit.cluster.clusters import FIRST, THIRD, a_cluster, a_joiner, pod_of


@pytest.mark.parametrize(
    "url",
    [
        f"http://{FIRST}.demo.prod.svc:2380",
        f"https://{FIRST}.demo.prod.svc.cluster.local:2380",
        f"http://{FIRST}.demo.prod.svc",
        f"http://{FIRST}",
    ],
)
def test_a_member_is_found_in_its_peer_url(url: str) -> None:
    assert member_at(url) == FIRST


@pytest.mark.parametrize("url", [f"{FIRST}.demo.prod.svc:2380", "http://:2380", "http://a.demo:x", "", "unix://a:1"])
def test_no_member_is_found_where_none_can_be(url: str) -> None:
    assert member_at(url) is None


def test_a_name_comes_back_from_the_url_that_is_made_of_it() -> None:
    cluster = a_cluster(pod={"ClusterDomain": ".cluster.local"})

    assert member_at(peer_url(cluster, host(cluster, FIRST))) == FIRST


def test_the_longest_name_of_a_cluster_still_makes_labels_of_dns() -> None:
    longest = CLUSTER_NAME["maxLength"]

    assert isinstance(longest, int)
    assert longest + 1 + SUFFIX_LENGTH <= 63
    assert longest + len("-client") <= 63


def test_a_member_its_pod_and_its_claim_have_one_name() -> None:
    cluster = a_cluster(pod={"persistentVolumeClaimSpec": {}})
    pod = pod_of(cluster, a_joiner(cluster))

    assert pod["metadata"]["name"] == pod["spec"]["hostname"] == THIRD
    assert pod["spec"]["volumes"][-1]["persistentVolumeClaim"]["claimName"] == THIRD
    assert member_claim(cluster, THIRD, wanted={})["metadata"]["name"] == THIRD


def test_ends_of_names_are_as_they_were() -> None:
    assert member_name(a_cluster(), SUFFIX_ALPHABET[:SUFFIX_LENGTH]) == "demo-bcdfghjklm"
    assert len(set(SUFFIX_ALPHABET)) == len(SUFFIX_ALPHABET) == 27


def test_a_claim_that_says_nothing_of_access_can_be_mounted_by_one_node() -> None:
    wanted = {"resources": {"requests": {"storage": "1Gi"}}}

    assert member_claim(a_cluster(), FIRST, wanted=wanted)["spec"] == {"accessModes": ["ReadWriteOnce"], **wanted}
    assert member_claim(a_cluster(), FIRST, wanted={"accessModes": ["ReadWriteOncePod"]})["spec"] == {
        "accessModes": ["ReadWriteOncePod"]
    }
