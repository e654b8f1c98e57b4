"""Which restart a gap is counted for."""

from __future__ import annotations

import pytest

from bench.gaps import longest, longest_by_restart, spans


def writes(*pauses: tuple[float, float], until: float = 30.0) -> list[float]:
    """One each tenth of a second, but for pauses."""
    moments = [number / 10 for number in range(int(until * 10))]
    return [moment for moment in moments if not any(begin < moment < end for begin, end in pauses)]


def test_each_restart_has_its_own_gap() -> None:
    acknowledged = writes((5.0, 5.5), (14.0, 16.0))

    found = longest_by_restart(acknowledged, [5.2, 15.0, 25.0], since=2.0, until=28.0)

    assert found == pytest.approx((0.5, 2.0, 0.1))


def test_a_gap_that_begins_in_one_span_and_ends_in_the_next_counts_for_both() -> None:
    assert longest_by_restart(writes((9.0, 11.0)), [5.0, 15.0], since=0.0, until=20.0) == pytest.approx((2.0, 2.0))


def test_a_time_is_cut_half_way_between_restarts() -> None:
    assert spans([14.0, 4.0], since=0.0, until=20.0) == [(0.0, 9.0), (9.0, 20.0)]
    assert spans([], since=0.0, until=20.0) == []


def test_a_client_that_got_nothing_through_is_no_client_without_gaps() -> None:
    with pytest.raises(ValueError, match="nothing was acknowledged"):
        longest([1.0, 2.0], since=5.0, until=6.0)
