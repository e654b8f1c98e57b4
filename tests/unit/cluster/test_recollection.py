from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from etcd_operator.api.cluster import ClusterStatus, EtcdCluster, MemberStatus, Operation
from etcd_operator.cluster.observe import is_born
from etcd_operator.cluster.recollection import recollected
from etcd_operator.plan.ladder import plan
from etcd_operator.plan.view import Answer, Body, Disk, Identity, Listed, Silence, Stage
from etcd_operator.releases.version import Version
from tests.unit.cluster.clusters import a_cluster
from tests.unit.cluster.views import a_view

NAIVE = datetime(2026, 11, 15, 11, 0)  # noqa: DTZ001 - as somebody may have written it
NAMES = ("demo-a", "demo-b")
ODD = st.sampled_from([None, "", "x", "zz", "-1", "0x1g", "3.6.16", "3.5.1.2", "c0ffee"])
TIMES = st.sampled_from([None, NAIVE, NAIVE.replace(tzinfo=UTC)])
OPERATIONS = st.none() | st.builds(
    Operation,
    name=st.sampled_from(["Bootstrap", "ScaleUp", "ScaleDown", "Replace", "Roll", "Upgrade", "Nonsense"]),
    since=TIMES,
    members=st.none() | st.just(NAMES),
    victim=st.none() | st.sampled_from(NAMES),
    version=ODD,
)
MEMBERS = st.builds(MemberStatus, name=st.sampled_from(NAMES), member_id=ODD, version=ODD, silent_since=TIMES)
STATUSES = st.builds(
    ClusterStatus,
    cluster_id=ODD,
    current_version=ODD,
    resolved_version=ODD,
    failed_version=ODD,
    operation=OPERATIONS,
    member_list=st.none() | st.tuples(MEMBERS),
    last_given_up=TIMES,
)


def with_status(status: ClusterStatus) -> EtcdCluster:
    return msgspec.structs.replace(a_cluster(), status=status)


IDENTITY = Identity(cluster_id=1, member_id=2)
ANSWER = Answer(identity=IDENTITY, version=Version(3, 6, 16), leader=2, term=1, applied=9, linearizable=True)
ROSTER = tuple(
    Listed(id=number, name=name, peer_urls=frozenset({f"http://{name}.demo.prod.svc:2380"}))
    for number, name in enumerate(NAMES, 2)
)
WORLDS: tuple[dict[str, Any], ...] = (
    {},
    {"disks": {"demo-b": Disk(name="demo-b", uid="2", identity=IDENTITY)}},
    {
        "bodies": {name: Body(name=name, uid=name, stage=Stage.STARTED, identity=IDENTITY) for name in NAMES},
        "roster": ROSTER,
        "answers": {"demo-a": ANSWER, "demo-b": Silence("no answer")},
    },
)


@given(status=STATUSES, world=st.sampled_from(WORLDS))
def test_no_text_in_a_status_keeps_a_turn_from_its_decision(status: ClusterStatus, world: dict[str, Any]) -> None:
    view = a_view(cluster=recollected(with_status(status)), suffixes=tuple("abcdefg"), **world)

    assert plan(view).why


def test_what_makes_sense_is_kept_as_it_is() -> None:
    status = ClusterStatus(
        cluster_id="c0ffee",
        current_version="3.6.16",
        operation=Operation(name="Upgrade", version="3.7.3", members=("demo-a",)),
        member_list=(MemberStatus(name="demo-a", version="3.6.16", silent_since=datetime(2026, 1, 1, tzinfo=UTC)),),
    )

    assert recollected(with_status(status)).status == status


@pytest.mark.parametrize("text", ["zzz", "c0ffee", "0"])
def test_a_cluster_with_any_id_at_all_has_lived(text: str) -> None:
    """Also one that nobody can read: no first member is started beside whatever it stands for."""
    cluster = with_status(ClusterStatus(cluster_id=text))

    assert is_born(cluster) or recollected(cluster).status.cluster_id
    assert not is_born(a_cluster())


def test_a_version_that_is_none_is_forgotten_and_a_time_without_a_zone_is_meant_as_ours() -> None:
    understood = recollected(with_status(ClusterStatus(resolved_version="newest", last_given_up=NAIVE))).status

    assert (understood.resolved_version, understood.last_given_up) == (None, NAIVE.replace(tzinfo=UTC))
