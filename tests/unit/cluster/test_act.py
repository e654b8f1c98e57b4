"""That nothing which can be decided is left undone: what the two `match` statements know, against what there is."""

from __future__ import annotations

import ast
import inspect

import pytest

from etcd_operator.cluster import act, membership
from etcd_operator.plan import steps


def names_in(function: object) -> set[str]:
    """The classes that the cases of a function name."""
    tree = ast.parse(inspect.getsource(function).strip())  # type: ignore[arg-type]
    patterns = [node for node in ast.walk(tree) if isinstance(node, ast.MatchClass)]
    return {ast.unparse(pattern.cls) for pattern in patterns}


def kinds_of(base: type[steps.Step | steps.Chore]) -> set[str]:
    return {kind.__name__ for kind in base.__subclasses__()}


@pytest.mark.parametrize(
    ("function", "base", "besides"),
    [(act.Hands.take, steps.Step, {"Wait"}), (act.Hands.tidy, steps.Chore, set())],
    ids=["steps", "chores"],
)
def test_everything_that_can_be_decided_is_known_how_to_be_done(
    function: object, base: type[steps.Step | steps.Chore], besides: set[str]
) -> None:
    assert names_in(function) | besides == kinds_of(base)


def test_every_change_of_membership_is_known_where_it_is_made() -> None:
    assert names_in(membership.Membership.change) <= names_in(act.Hands.take)
    assert names_in(membership.Membership.change) == {kind.__name__ for kind in membership.Change.__args__}
