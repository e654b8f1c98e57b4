from __future__ import annotations

import msgspec
import pytest

from etcd_operator.cluster.dialling import at, cluster_id_of
from etcd_operator.cluster.inquiry import answer_of, can_be_asked
from etcd_operator.etcd.results import Header, Status
from etcd_operator.plan.view import Body, Identity, Stage
from etcd_operator.releases.version import Version
from tests.unit.cluster.clusters import a_cluster

STATUS = Status(
    header=Header(cluster_id=0xC1, member_id=0xA1, revision=7, raft_term=3),
    version="3.6.16",
    db_size=4096,
    leader=0xA1,
    raft_index=120,
    raft_term=3,
    is_learner=False,
    raft_applied_index=118,
    db_size_in_use=2048,
    errors=("NOSPACE",),
    storage_version="3.6.0",
    db_size_quota=None,
    downgrade=None,
)


def test_an_answer_is_who_said_it_and_where_it_stands() -> None:
    found = answer_of(STATUS)

    assert found.identity == Identity(cluster_id=0xC1, member_id=0xA1)
    assert (found.version, found.leader, found.term, found.applied) == (Version(3, 6, 16), 0xA1, 3, 118)
    assert (found.errors, found.db_size, found.learner) == (("NOSPACE",), 4096, False)
    assert not found.linearizable, "a status needs no other member, so it proves nothing"


def test_an_older_member_that_tells_no_applied_index_is_taken_by_its_log() -> None:
    old = msgspec.structs.replace(STATUS, version="3.2.13", raft_applied_index=None, errors=None)

    assert (answer_of(old).applied, answer_of(old).errors) == (120, ())


@pytest.mark.parametrize(
    ("stage", "address", "asked"),
    [
        (Stage.PENDING, "", False),
        (Stage.PREPARING, "", False),
        (Stage.PREPARING, "10.1.2.3", True),
        (Stage.GUARDED, "10.1.2.3", True),
        (Stage.STARTED, "10.1.2.3", True),
        (Stage.STARTED, "", False),
        (Stage.ENDED, "10.1.2.3", False),
    ],
)
def test_a_member_is_asked_as_soon_as_it_has_an_address_and_until_it_has_ended(
    stage: Stage, address: str, asked: bool
) -> None:
    assert can_be_asked(Body(name="a", uid="1", stage=stage, address=address)) is asked


def test_members_are_dialled_in_both_families_of_addresses() -> None:
    assert at("10.1.2.3", 2379) == "10.1.2.3:2379"
    assert at("fd00::1", 2379) == "[fd00::1]:2379"


def test_the_cluster_is_known_by_what_was_written_down_of_it() -> None:
    cluster = a_cluster()
    assert cluster_id_of(cluster) is None

    recorded = msgspec.structs.replace(cluster.status, cluster_id="c1")
    assert cluster_id_of(msgspec.structs.replace(cluster, status=recorded)) == 0xC1
