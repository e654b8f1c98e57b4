from __future__ import annotations

import pytest

from etcd_operator.cluster.scope import SCOPE, in_scope
from etcd_operator.kube.objects import Metadata, PartialObject


@pytest.mark.parametrize(
    ("annotations", "of_one_namespace", "of_all"),
    [
        ({}, True, False),
        ({SCOPE: "clusterwide"}, False, True),
        ({SCOPE: ""}, False, False),
        ({SCOPE: "else"}, False, False),
    ],
)
def test_whose_a_cluster_is(annotations: dict[str, str], of_one_namespace: bool, of_all: bool) -> None:
    obj = PartialObject(Metadata(annotations=annotations))

    assert in_scope(obj, cluster_wide=False) is of_one_namespace
    assert in_scope(obj, cluster_wide=True) is of_all
