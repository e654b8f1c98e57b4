from __future__ import annotations

import pytest

from etcd_operator.releases.known import KNOWN, Known
from etcd_operator.releases.variables import (
    FEATURE_GATES,
    FLAGGED,
    GATES,
    HARMFUL,
    LEARNERS,
    MAX_LEARNERS,
    VARIABLES,
    Gate,
    ignored,
    learners_at_once,
    variables,
)


def test_what_the_operator_sets_is_neither_a_flag_nor_harmful() -> None:
    assert not set(variables()) & (FLAGGED | set(HARMFUL))


def test_a_variable_that_the_user_chose_is_not_set_beside_it() -> None:
    for name in variables():
        assert name not in variables([name])
        assert set(variables([name])) == set(variables()) - {name}


@pytest.mark.parametrize("gate", GATES, ids=lambda gate: gate.name)
def test_a_gate_is_left_out_where_the_user_chose_its_older_name(gate: Gate) -> None:
    gates = variables([gate.older])[FEATURE_GATES]

    assert gate.name not in gates
    assert all(other.name in gates for other in GATES if other is not gate)


def test_no_gates_are_set_where_the_user_chose_all_the_older_names() -> None:
    assert FEATURE_GATES not in variables([gate.older for gate in GATES])


def test_the_listener_for_metrics_can_be_put_elsewhere() -> None:
    assert variables(metrics_url="http://127.0.0.1:1")["ETCD_LISTEN_METRICS_URLS"] == "http://127.0.0.1:1"


def test_the_users_variables_that_would_end_or_hurt_etcd_are_told_with_a_reason() -> None:
    found = ignored(["ETCD_NAME", "ETCD_FORCE_NEW_CLUSTER", "ETCD_QUOTA_BACKEND_BYTES", "GOGC"])

    assert sorted(found) == ["ETCD_FORCE_NEW_CLUSTER", "ETCD_NAME"]
    assert "command line" in found["ETCD_NAME"]
    assert "forgets the others" in found["ETCD_FORCE_NEW_CLUSTER"]


@pytest.mark.parametrize(("row", "limit"), list(zip(KNOWN, (0, 0, 1, 1, LEARNERS, LEARNERS), strict=True)), ids=str)
def test_a_member_allows_as_many_learners_as_its_version_and_its_variables_say(row: Known, limit: int) -> None:
    assert learners_at_once(row.newest, variables()) == limit


@pytest.mark.parametrize(
    ("environment", "limit"), [({}, 1), ({MAX_LEARNERS: "3"}, 3), ({MAX_LEARNERS: ""}, 1), ({MAX_LEARNERS: "-1"}, 1)]
)
def test_a_member_that_was_told_otherwise_allows_that(environment: dict[str, str], limit: int) -> None:
    assert learners_at_once(KNOWN[-1].newest, environment) == limit


def test_every_variable_says_why() -> None:
    assert all(row.why for row in VARIABLES)
    assert all(row.why for row in GATES)
