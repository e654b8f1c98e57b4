"""One cluster walks through every series of etcd, and a quiet one takes the step that etcd itself would not survive."""

from __future__ import annotations

import pytest

from tests.box.cluster.conftest import Make
from tests.box.cluster.versions import EVERY, V32, V35, V36, V37


@pytest.mark.timeout(900)
def test_from_the_oldest_version_to_the_newest_without_losing_a_write(etcd: Make) -> None:
    cluster = etcd(size=3, version=V32)
    before = cluster.settled(within=240)
    cluster.put("first", "of all")
    cluster.console.begin_writing()

    for version in EVERY[1:]:
        cluster.change(version=version)
        assert cluster.settled(within=300) == before

    report = cluster.console.end_writing()
    assert report.lost == []
    assert report.acknowledged > 500
    assert cluster.get("first") == "of all"
    assert {cluster.member_status(name)["version"] for name in before} == {V37}


@pytest.mark.timeout(600)
def test_a_cluster_that_nobody_ever_wrote_to_reaches_the_newest_version(etcd: Make) -> None:
    """3.7 cannot read what 3.5 wrote into a log that is too short to have been cut."""
    cluster = etcd(size=3, version=V35)
    before = cluster.settled()

    for version in (V36, V37):
        cluster.change(version=version)
        assert cluster.settled(within=300) == before

    assert max(cluster.restarts().values()) == 2  # one for each step, and none of them a crash
    cluster.put("key", "value")
    assert cluster.get("key") == "value"
    cluster.until(lambda: "RaftSnapshotsSaved" in cluster.reasons, within=20)
