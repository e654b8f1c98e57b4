from __future__ import annotations

import re

import pytest

from etcd_operator.api.kinds import KINDS, Kind
from etcd_operator.api.reference import page, plain
from tests.unit.api.schemas import nodes, roots


def kind_name(kind: Kind) -> str:
    return kind.name


def sections(kind: Kind) -> dict[str, list[str]]:
    """The rows of each section."""
    parts = re.split(r"^## ", page(kind), flags=re.MULTILINE)
    return {part.splitlines()[0]: re.findall(r"^\| `.*", part, re.MULTILINE) for part in parts[1:]}


def rows_of(kind: Kind, containing: str = "") -> set[str]:
    """The paths of the fields that have a row."""
    found = [(path, row) for path, rows in sections(kind).items() for row in rows if containing in row]
    return {f"{path}.{row.split('`')[1]}" for path, row in found}


def fields_of(kind: Kind) -> set[str]:
    """Our own fields: those inside Kubernetes' types are only named."""
    inside = tuple(f"{path}." for path in rows_of(kind, containing="Kubernetes'"))
    paths = {path.replace("[]", "") for path, _ in nodes(roots()[kind.name]) if path.startswith(("spec.", "status."))}
    return {path for path in paths if not path.endswith("{}") and not path.startswith(inside or "-")}


@pytest.mark.parametrize("kind", KINDS, ids=kind_name)
def test_every_field_of_ours_has_a_row_in_its_section(kind: Kind) -> None:
    assert len(fields_of(kind)) > 25
    assert fields_of(kind) - rows_of(kind) == set()


@pytest.mark.parametrize("kind", KINDS, ids=kind_name)
def test_every_rule_and_every_limit_is_told(kind: Kind) -> None:
    text = page(kind)
    for _, node in nodes(roots()[kind.name]):
        for rule in node.get("x-kubernetes-validations", ()):
            assert plain(rule["message"]) in text
    if kind.name == "EtcdCluster":
        assert "At least 1. At most 7." in text
        assert "at most 52 characters" in text


@pytest.mark.parametrize("kind", KINDS, ids=kind_name)
def test_every_column_and_every_reason_is_told(kind: Kind) -> None:
    text = page(kind)

    assert [column.name for column in kind.columns if f"| {column.name.upper()} |" not in text] == []
    assert kind.conditions
    for meaning in kind.conditions:
        assert f"**{meaning.type}**" in text
        assert [reason for reason in meaning.reasons if f"`{reason}`" not in text] == []


def test_signs_that_mean_something_to_markdown_are_shown_as_they_are() -> None:
    assert plain("<bucket>/<key> | etcd_*") == r"&lt;bucket&gt;/&lt;key&gt; \| etcd_\*"


def test_no_cell_of_a_table_breaks_its_row() -> None:
    for kind in KINDS:
        rows = [line for line in page(kind).splitlines() if line.startswith("|")]
        assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {4}
