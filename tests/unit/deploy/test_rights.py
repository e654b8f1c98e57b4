"""The operator may do what its code does and nothing else; the roles say what the table says."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from box.layout import REPOSITORY
from dev.generating import rights, roles
from dev.generating.rights import RIGHTS, Reach, Right
from etcd_operator.cli import old_lock, process, startup
from etcd_operator.kube import resources
from etcd_operator.kube.resources import Resource

SOURCE = REPOSITORY / "src" / "etcd_operator"
ACTING = ("cluster", "cli")  # the packages that decide which objects are touched
FORBIDDEN = {"*", "deletecollection", "impersonate", "escalate", "bind"}


def rules_of(name: str) -> list[dict[str, Any]]:
    rules: list[dict[str, Any]] = yaml.safe_load((REPOSITORY / "example/rbac" / name).read_text())["rules"]
    return rules


def touched() -> Iterator[Resource]:
    """The resources that the acting packages import by name."""
    for package in ACTING:
        for path in (SOURCE / package).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.ImportFrom) and node.module == "etcd_operator.kube.resources":
                    named = (getattr(resources, alias.name) for alias in node.names)
                    yield from (each for each in named if isinstance(each, Resource))


def test_whatever_the_code_touches_it_has_some_right_to() -> None:
    granted = {(right.group, right.resource) for right in RIGHTS}

    assert {(each.group, each.plural) for each in touched()} <= granted


@pytest.mark.parametrize("right", RIGHTS, ids=lambda right: f"{right.resource}-{right.verbs[0]}")
def test_no_right_is_open_ended(right: Right) -> None:
    assert not FORBIDDEN & set(right.verbs)
    assert "*" not in right.group + right.resource
    assert right.why.endswith(".")


def test_secrets_can_be_read_by_name_only() -> None:
    [right] = [right for right in RIGHTS if right.resource == "secrets"]

    assert right.verbs == ("get",)


def test_what_can_be_limited_to_a_name_is() -> None:
    limited = {right.resource: right.names for right in RIGHTS if right.names}
    unlimited = [right.verbs for right in RIGHTS if right.resource in limited and not right.names]

    assert limited == {
        "leases": ("etcd-operator",),
        "endpoints": ("etcd-operator",),
        "customresourcedefinitions": ("etcdclusters.etcd.database.coreos.com",),
    }
    assert set(unlimited) == {("create",)}


def test_the_names_in_the_table_are_those_of_the_program() -> None:
    assert {process.PROGRAM, old_lock.NAME, startup.CONTAINER} == {rights.OPERATOR}


def test_the_cluster_role_has_every_right_and_no_other() -> None:
    assert rules_of("cluster-role-template.yaml") == [right.rule for right in RIGHTS]


def test_the_role_has_every_right_that_a_namespace_can_give() -> None:
    assert rules_of("role-template.yaml") == [right.rule for right in RIGHTS if right.reach is not Reach.NOWHERE]


def test_every_rule_stands_under_its_reason() -> None:
    text = roles.role_text(roles.role(name="any"), RIGHTS)

    for right in RIGHTS:
        assert f"# {right.why}\n- apiGroups: [{right.group or chr(39) * 2}]\n  resources: [{right.resource}]\n" in text


def test_the_page_has_a_row_for_every_right() -> None:
    rows = [line for line in rights.page().splitlines() if line.startswith("| `")]

    assert len(rows) == len(RIGHTS)
