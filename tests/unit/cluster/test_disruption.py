from __future__ import annotations

import pytest

from etcd_operator.cluster.disruption import disruption_budget
from tests.unit.cluster.clusters import a_cluster


def kept(*, size: int, voters: int, on_claims: bool) -> int:
    found: int = disruption_budget(a_cluster(size=size), voters=voters, on_claims=on_claims)["spec"]["minAvailable"]
    return found


@pytest.mark.parametrize(("members", "quorum"), [(2, 2), (3, 2), (4, 3), (5, 3), (6, 4), (7, 4)])
@pytest.mark.parametrize("on_claims", [False, True])
def test_a_quorum_stays(members: int, quorum: int, on_claims: bool) -> None:
    assert kept(size=members, voters=members, on_claims=on_claims) == quorum


def test_the_larger_of_what_is_and_what_is_wanted_counts() -> None:
    assert kept(size=5, voters=1, on_claims=True) == 3
    assert kept(size=1, voters=5, on_claims=True) == 3


def test_a_single_member_may_go_only_if_its_data_stay() -> None:
    assert kept(size=1, voters=1, on_claims=False) == 1
    assert kept(size=1, voters=1, on_claims=True) == 0


def test_a_cluster_without_voters_yet_is_treated_as_what_it_will_be() -> None:
    assert kept(size=1, voters=0, on_claims=False) == 1
    assert kept(size=3, voters=0, on_claims=False) == 2
