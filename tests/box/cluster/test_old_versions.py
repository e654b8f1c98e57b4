"""A manifest with the version of the old documentation works as well as one of today."""

from __future__ import annotations

import pytest

from tests.box.cluster.conftest import Make
from tests.box.cluster.versions import V32, V33, V34, V37


def test_the_version_of_the_old_documentation_is_created_grown_healed_and_shrunk(etcd: Make) -> None:
    cluster = etcd(size=3, version=V32)
    before = cluster.settled(within=240)
    cluster.put("key", "value")

    cluster.delete_pod(before[0])
    cluster.settled(without=[before[0]], within=240)
    cluster.change(size=1)
    cluster.settled(within=240)

    assert cluster.get("key") == "value"


@pytest.mark.parametrize("version", [V33, V34, V37])
def test_every_series_is_created_and_healed(etcd: Make, version: str) -> None:
    cluster = etcd(size=3, version=version)
    before = cluster.settled(within=240)
    cluster.put("key", "value")

    cluster.delete_pod(before[0])
    after = cluster.settled(without=[before[0]], within=240)

    assert cluster.get("key") == "value"
    assert {cluster.member_status(name)["version"] for name in after} == {version}
