"""TLS is chosen when a cluster begins: later its members and clients would not understand each other any more."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest

from box.kube.api import ApiError
from tests.box.api.definitions import collection
from tests.box.api.rules import BOTH, CLIENT_SWITCH, PEER_SWITCH, good, static
from tests.box.driving import Box

Object = dict[str, Any]

PEERS = static(peerSecret="peer")
ALL_THREE = static(operatorSecret="operator", serverSecret="server", peerSecret="peer")
NOTHING: tuple[Object | None, ...] = (
    None,
    {},
    {"static": {}},
    {"static": {"member": {}}},
    {"static": static(operatorSecret="", serverSecret="", peerSecret="")},
)
RECORDED = {"clusterID": "cdf818194e3a8c32", "phase": "Creating"}
AS_OF_OLD = {"phase": "Running", "size": 3}
NUMBERS = count()


def tls(secrets: Object) -> Object:
    return {"static": secrets}


class Cluster:
    """A stored cluster whose TLS is written and whose status is reported."""

    def __init__(self, box: Box, namespace: str, begins_with: Object | None) -> None:
        obj = good("EtcdCluster", f"switched-{next(NUMBERS)}")
        if begins_with is not None:
            obj["spec"]["TLS"] = begins_with
        self._api = box.api
        self._path = f"{collection('EtcdCluster', namespace)}/{obj['metadata']['name']}"
        box.api.create(collection("EtcdCluster", namespace), obj)

    def report(self, status: Object) -> None:
        self._api.patch(f"{self._path}/status", {"status": status})

    def switch(self, to: Object | None) -> str:
        """Why the server refuses this as the new `spec.TLS`; empty if it takes it."""
        stored = self._api.get(self._path)
        spec = {name: value for name, value in stored["spec"].items() if name != "TLS"}
        changed = stored | {"spec": spec if to is None else spec | {"TLS": to}}
        try:
            self._api.request("PUT", self._path, body=changed)
        except ApiError as error:
            if error.status != 422:
                raise
            return error.message
        return ""


SWITCHES = [
    pytest.param(None, tls(BOTH), CLIENT_SWITCH, id="clients-on"),
    pytest.param(tls(BOTH), None, CLIENT_SWITCH, id="clients-off"),
    pytest.param(tls(BOTH), {}, CLIENT_SWITCH, id="clients-off-by-emptying"),
    pytest.param(tls(BOTH), tls(static(operatorSecret="", serverSecret="")), CLIENT_SWITCH, id="clients-off-by-blanks"),
    pytest.param(None, tls(PEERS), PEER_SWITCH, id="peers-on"),
    pytest.param(tls(PEERS), None, PEER_SWITCH, id="peers-off"),
    pytest.param(tls(ALL_THREE), tls(BOTH), PEER_SWITCH, id="peers-off-alone"),
    pytest.param(tls(ALL_THREE), tls(PEERS), CLIENT_SWITCH, id="clients-off-alone"),
]


@pytest.mark.parametrize(("before", "after", "says"), SWITCHES)
def test_a_switch_is_refused_once_the_cluster_runs_and_fine_before(
    box: Box, common_namespace: str, before: Object | None, after: Object | None, says: str
) -> None:
    running, fresh = (Cluster(box, common_namespace, before) for _ in range(2))
    running.report(RECORDED)

    refused = running.switch(after)

    assert says in refused
    assert "spec.TLS" in refused
    assert fresh.switch(after) == ""


def test_a_cluster_that_the_old_operator_calls_running_counts_as_such(box: Box, common_namespace: str) -> None:
    cluster = Cluster(box, common_namespace, None)
    cluster.report(AS_OF_OLD)

    assert CLIENT_SWITCH in cluster.switch(tls(BOTH))


def test_every_way_to_say_nothing_means_the_same(box: Box, common_namespace: str) -> None:
    cluster = Cluster(box, common_namespace, None)
    cluster.report(RECORDED)

    assert [cluster.switch(nothing) for nothing in (*NOTHING, *reversed(NOTHING))] == [""] * (2 * len(NOTHING))


def test_a_running_cluster_may_take_its_certificates_from_other_secrets(box: Box, common_namespace: str) -> None:
    cluster = Cluster(box, common_namespace, tls(ALL_THREE))
    cluster.report(RECORDED)

    assert cluster.switch(tls(static(operatorSecret="o2", serverSecret="s2", peerSecret="p2"))) == ""


@pytest.mark.parametrize("secrets", [None, tls(ALL_THREE)], ids=["plain", "tls"])
def test_a_status_is_written_whatever_it_says_and_whatever_tls_is(
    box: Box, common_namespace: str, secrets: Object | None
) -> None:
    cluster = Cluster(box, common_namespace, secrets)

    for status in (RECORDED, AS_OF_OLD, {"phase": "Failed", "clusterID": None}, {"phase": None}, RECORDED):
        cluster.report(status)
