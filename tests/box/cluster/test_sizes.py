"""A cluster grows and shrinks while its clients write."""

from __future__ import annotations

from tests.box.cluster.conftest import Make


def test_from_one_member_to_seven_and_back_nothing_is_lost(etcd: Make) -> None:
    cluster = etcd(size=1)
    cluster.settled()
    cluster.put("first", "of all")
    cluster.console.begin_writing()

    for size in (3, 5, 7, 3, 1):
        cluster.change(size=size)
        members = cluster.settled(within=240)
        assert cluster.voters() == members

    report = cluster.console.end_writing()
    assert report.lost == []
    assert report.acknowledged > 100
    assert cluster.get("first") == "of all"


def test_kubectl_scale_changes_the_size(etcd: Make) -> None:
    cluster = etcd(size=1)
    cluster.settled()

    cluster.scale(2)

    assert len(cluster.settled()) == 2


def test_a_size_that_is_taken_back_on_the_way_leaves_the_members_that_were_there(etcd: Make) -> None:
    cluster = etcd(size=3)
    before = cluster.settled()

    cluster.change(size=5)
    cluster.until(lambda: cluster.status.get("operation", {}).get("name") == "ScaleUp", within=30)
    cluster.change(size=3)
    after = cluster.settled()

    assert after == before
    assert cluster.voters() == before


def test_the_leader_is_not_the_one_to_go(etcd: Make) -> None:
    cluster = etcd(size=3)
    cluster.settled()
    leader = cluster.leader()
    term = cluster.member_status(leader)["term"]

    cluster.change(size=1)

    assert cluster.settled() == [leader]
    assert cluster.member_status(leader)["term"] == term
