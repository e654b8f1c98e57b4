"""Every rule of the definitions refuses what it should, says which field and why, and lets the next best value pass."""

from __future__ import annotations

import pytest

from tests.box.api.definitions import refusal
from tests.box.api.rules import ROWS, Row, good, with_value
from tests.box.driving import Box


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_a_rule_refuses_with_field_and_reason_and_lets_the_next_value_pass(box: Box, row: Row) -> None:
    base = good(row.kind)

    assert row.says in refusal(box, with_value(base, row.at, row.refused))
    assert refusal(box, with_value(base, row.at, row.passes)) == ""
