from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from etcd_operator.kube.backoff import Backoff
from tests.unit.kube.virtual_time import longest, shortest


def test_each_failure_doubles_the_wait_up_to_the_cap() -> None:
    backoff = Backoff(first=1.0, cap=10.0)

    assert [backoff.delay(failures, longest) for failures in range(7)] == [0, 1, 2, 4, 8, 10, 10]


def test_chance_takes_at_most_its_part_of_the_wait() -> None:
    backoff = Backoff(first=1.0, cap=10.0, spread=0.25)

    assert [backoff.delay(failures, shortest) for failures in range(1, 6)] == [0.75, 1.5, 3, 6, 7.5]


def test_two_that_failed_together_do_not_come_back_together() -> None:
    one, other = random.Random(1), random.Random(2)

    assert Backoff().delay(5, one.uniform) != Backoff().delay(5, other.uniform)


@given(failures=st.integers(1, 10**6), first=st.floats(0.01, 10), factor=st.floats(1, 100))
def test_no_number_of_failures_leads_beyond_the_cap(failures: int, first: float, factor: float) -> None:
    backoff = Backoff(first=first, cap=60.0, factor=factor)

    assert 0 < backoff.delay(failures, random.uniform) <= 60.0


@pytest.mark.parametrize("wrong", [{"first": 0.0}, {"first": 61.0}, {"factor": 0.5}, {"spread": 1.5}])
def test_numbers_that_make_no_back_off_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="is no back-off"):
        Backoff(**wrong)
