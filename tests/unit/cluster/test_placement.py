from __future__ import annotations

from typing import Any

import pytest

from tests.unit.cluster.clusters import a_cluster, pod_of


def spec_of(**policy: Any) -> Any:
    return pod_of(a_cluster(pod=policy))["spec"]


def test_members_keep_apart_where_they_can() -> None:
    assert list(spec_of()["affinity"]["podAntiAffinity"]) == ["preferredDuringSchedulingIgnoredDuringExecution"]


def test_they_must_where_the_user_says_so() -> None:
    found = spec_of(antiAffinity=True)["affinity"]["podAntiAffinity"]

    assert list(found) == ["requiredDuringSchedulingIgnoredDuringExecution"]


@pytest.mark.parametrize("anti", [False, True])
def test_an_affinity_of_the_users_own_replaces_both(anti: bool) -> None:
    own: dict[str, Any] = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": []}}

    assert spec_of(affinity=own, antiAffinity=anti)["affinity"] == own


def test_an_empty_affinity_asks_for_none() -> None:
    assert "affinity" not in spec_of(affinity={}, antiAffinity=True)


def test_a_silent_node_is_put_up_with_for_ever() -> None:
    found = spec_of(tolerations=[{"operator": "Exists", "effect": "NoSchedule"}])["tolerations"]

    assert [(each.get("key"), each["effect"]) for each in found] == [
        ("node.kubernetes.io/not-ready", "NoExecute"),
        ("node.kubernetes.io/unreachable", "NoExecute"),
        (None, "NoSchedule"),
    ]
    assert not any("tolerationSeconds" in each for each in found)


def test_a_toleration_that_the_user_has_written_out_is_there_once() -> None:
    ours = spec_of()["tolerations"]

    assert spec_of(tolerations=ours)["tolerations"] == ours
