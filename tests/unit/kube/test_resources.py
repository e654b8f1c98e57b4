"""Where objects live in the API."""

from __future__ import annotations

import pytest

from etcd_operator.kube.resources import CUSTOM_RESOURCE_DEFINITIONS, ETCD_CLUSTERS, NODES, PODS


def test_the_core_has_a_root_of_its_own() -> None:
    assert PODS.path(namespace="n", name="p", subresource="log") == "/api/v1/namespaces/n/pods/p/log"
    assert PODS.api_version == "v1"


def test_every_other_group_is_below_another() -> None:
    assert ETCD_CLUSTERS.path(namespace="n") == "/apis/etcd.database.coreos.com/v1beta2/namespaces/n/etcdclusters"
    assert ETCD_CLUSTERS.api_version == "etcd.database.coreos.com/v1beta2"


def test_without_a_namespace_all_are_meant() -> None:
    assert ETCD_CLUSTERS.path() == "/apis/etcd.database.coreos.com/v1beta2/etcdclusters"
    assert NODES.path(name="w1") == "/api/v1/nodes/w1"


def test_a_name_cannot_lead_to_another_path() -> None:
    assert (
        PODS.path(namespace="n", name="../../secrets/s?x#y")
        == "/api/v1/namespaces/n/pods/..%2F..%2Fsecrets%2Fs%3Fx%23y"
    )


def test_a_namespace_too_few_or_too_many_is_refused() -> None:
    with pytest.raises(ValueError, match="Pod p lives in a namespace"):
        PODS.path(name="p")
    with pytest.raises(ValueError, match="customresourcedefinitions live in no namespace"):
        CUSTOM_RESOURCE_DEFINITIONS.path(namespace="n", name="p")
