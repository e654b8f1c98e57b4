from __future__ import annotations

import pytest

from etcd_operator.cluster.roster import listed
from etcd_operator.etcd.results import MemberRecord
from tests.unit.cluster.clusters import FIRST, a_cluster


def record(*urls: str, name: str = "", learner: bool = False) -> MemberRecord:
    return MemberRecord(id=0xA1, name=name, peer_urls=urls, client_urls=(), is_learner=learner)


@pytest.mark.parametrize(
    "url", [f"http://{FIRST}.demo.prod.svc:2380", f"https://{FIRST}.demo.prod.svc.cluster.local:2380"]
)
def test_a_member_that_has_not_started_yet_is_known_by_its_peer_url(url: str) -> None:
    found = listed(a_cluster(), record(url, learner=True))

    assert (found.name, found.ours, found.started, found.learner) == (FIRST, True, False, True)
    assert found.peer_urls == {url}


@pytest.mark.parametrize(
    "url",
    [
        "http://10.1.2.3:2380",
        f"http://{FIRST}.demo.other.svc:2380",
        f"http://{FIRST}.demo.prod.svcx:2380",
        "http://demo.prod.svc:2380",
        "http://:2380",
    ],
)
def test_a_member_that_somebody_else_added_is_not_ours_and_keeps_its_own_name(url: str) -> None:
    assert (listed(a_cluster(), record(url, name="by-hand")).name) == "by-hand"
    assert listed(a_cluster(), record(url)).name == "a1"
    assert not listed(a_cluster(), record(url, name=FIRST)).ours


def test_of_several_peer_urls_one_of_ours_is_enough() -> None:
    found = listed(a_cluster(), record("http://10.1.2.3:2380", f"http://{FIRST}.demo.prod.svc:2380", name="x"))

    assert (found.name, found.ours, found.started) == (FIRST, True, True)
