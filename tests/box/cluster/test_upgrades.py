"""A new version reaches one member after another, while clients write."""

from __future__ import annotations

from tests.box.cluster.conftest import Make
from tests.box.cluster.versions import V34, V35, V36

CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "64Mi"}}}


def test_members_without_a_volume_stay_who_they_are_and_no_write_is_lost(etcd: Make) -> None:
    cluster = etcd(size=3, version=V35)
    before = cluster.settled()
    uids = cluster.uids()
    cluster.console.begin_writing()

    cluster.change(version=V36)
    after = cluster.settled(within=240)

    report = cluster.console.end_writing()
    assert after == before
    assert cluster.uids() == uids
    assert {cluster.member_status(name)["version"] for name in after} == {V36}
    assert report.lost == []
    assert report.acknowledged > 100
    cluster.until(lambda: {"UpgradeStarted", "MemberUpgrading", "UpgradeFinished"} <= cluster.reasons, within=20)


def test_members_with_a_volume_get_new_pods_on_their_old_disks(etcd: Make) -> None:
    cluster = etcd(size=3, version=V35, pod={"persistentVolumeClaimSpec": CLAIM})
    before = cluster.settled()
    uids, claims = cluster.uids(), {name: claim["metadata"]["uid"] for name, claim in cluster.claims.items()}
    cluster.console.begin_writing()

    cluster.change(version=V36)
    after = cluster.settled(within=240)

    report = cluster.console.end_writing()
    assert after == before
    assert not set(cluster.uids().values()) & set(uids.values())
    assert {name: claim["metadata"]["uid"] for name, claim in cluster.claims.items()} == claims
    assert report.lost == []


def test_a_jump_over_a_minor_version_is_refused_and_says_which_way_to_go(etcd: Make) -> None:
    cluster = etcd(size=3, version=V34)
    before = cluster.settled()
    uids, restarts = cluster.uids(), cluster.restarts()

    cluster.change(version=V36)
    state = cluster.until(lambda: refused(cluster.condition("Ready")), within=30)

    assert state["reason"] == "InvalidSpec"
    assert "3.5" in state["message"]
    assert (cluster.uids(), cluster.restarts()) == (uids, restarts)
    assert cluster.condition("Available")["status"] == "True"
    assert cluster.status["currentVersion"] == V34

    cluster.change(version=V34)
    assert cluster.settled() == before
    assert cluster.restarts() == restarts


def refused(state: dict[str, str]) -> dict[str, str] | None:
    return state if state["status"] == "False" else None


def test_a_version_that_cannot_be_pulled_leaves_every_member_as_it_is(etcd: Make) -> None:
    cluster = etcd(size=3)
    before = cluster.settled()
    uids, restarts = cluster.uids(), cluster.restarts()

    cluster.change(version="3.6.9999")
    cluster.until(lambda: "ImagePull" in cluster.condition("Ready")["message"], within=60)

    assert cluster.condition("Progressing")["reason"] == "Stalled"
    assert cluster.condition("Available")["status"] == "True"
    assert len(cluster.ready) == 3
    assert (cluster.uids(), cluster.restarts()) == (uids, restarts)

    cluster.change(version=V36)
    assert cluster.settled() == before
    assert cluster.restarts() == restarts
