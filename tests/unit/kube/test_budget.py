"""The budget of requests, with a clock of the test's own."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from etcd_operator.kube.budget import Budget


def test_a_burst_goes_at_once_and_the_rest_at_the_rate() -> None:
    budget = Budget(per_second=10, burst=3)

    waits = [budget.take(now=100.0) for _ in range(6)]

    assert waits == pytest.approx([0, 0, 0, 0.1, 0.2, 0.3])


def test_rest_refills_it_up_to_the_burst_and_no_further() -> None:
    budget = Budget(per_second=10, burst=3)
    for _ in range(3):
        budget.take(now=0.0)

    assert [budget.take(now=0.2) for _ in range(3)] == pytest.approx([0, 0, 0.1])
    assert [budget.take(now=1000.0) for _ in range(4)] == pytest.approx([0, 0, 0, 0.1])


def test_a_wait_too_long_takes_nothing() -> None:
    budget = Budget(per_second=1, burst=1)
    budget.take(now=0.0)

    assert budget.take(now=0.0, at_most=0.5) is None
    assert budget.take(now=0.0, at_most=0.5) is None
    assert budget.take(now=0.0, at_most=1.0) == pytest.approx(1.0)


def test_without_a_limit_nobody_waits() -> None:
    budget = Budget(per_second=math.inf)

    assert {budget.take(now=0.0) for _ in range(10_000)} == {0.0}


@pytest.mark.parametrize(("per_second", "burst"), [(0, 1), (-1, 1), (1, 0), (math.nan, 1)])
def test_a_budget_that_lets_nothing_through_is_refused(per_second: float, burst: int) -> None:
    with pytest.raises(ValueError, match="lets nothing through"):
        Budget(per_second=per_second, burst=burst)


@given(
    st.lists(st.floats(0, 1), min_size=1, max_size=60),
    st.integers(1, 50),
    st.integers(1, 10),
)
def test_never_more_than_the_burst_and_the_rate_and_nobody_is_overtaken(
    gaps: list[float], per_second: int, burst: int
) -> None:
    budget, now, sent = Budget(per_second=per_second, burst=burst), 0.0, list[float]()
    for gap in gaps:
        now += gap
        wait = budget.take(now=now)
        assert wait is not None
        sent.append(now + wait)

    assert sent == sorted(sent)
    for first in range(len(sent)):
        for last in range(first, len(sent)):
            allowed = burst + (sent[last] - sent[first]) * per_second
            assert last - first + 1 <= allowed + 1e-6
