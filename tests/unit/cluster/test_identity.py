from __future__ import annotations

import pytest

from etcd_operator.api.cluster_names import IDENTITY
from etcd_operator.cluster.identity import identity_in, written
from etcd_operator.plan.view import Identity


def test_an_identity_is_read_as_it_was_written() -> None:
    identity = Identity(cluster_id=0xC1, member_id=2**64 - 1)

    assert identity_in({IDENTITY: written(identity)}) == identity
    assert written(identity) == '{"clusterID": "c1", "memberID": "ffffffffffffffff"}'


@pytest.mark.parametrize("text", [None, "", "{}", "[]", '{"clusterID": "c1"}', '{"clusterID": "x", "memberID": "1"}'])
def test_what_cannot_be_read_is_no_identity(text: str | None) -> None:
    assert identity_in({} if text is None else {IDENTITY: text}) is None
