"""What a benchmark's lines say, and when a promise counts as kept."""

from __future__ import annotations

import json

import pytest

from bench.comparison import Better, Comparison, digits
from bench.figure import Figure, largest, share_below


def a_comparison(*ours: float, bound: float | None = 1.3) -> Comparison:
    return Comparison("ours", "s", "theirs", ours, (4.0, 5.0, 9.0), better=Better.LOWER, bound=bound)


def test_a_ratio_is_that_of_the_medians() -> None:
    assert a_comparison(1.0, 6.0, 100.0).ratio == pytest.approx(1.2)


def test_a_ratio_above_its_bound_is_missed_and_one_on_it_is_kept() -> None:
    assert "MISSED" in a_comparison(6.6).line()
    assert "ok" in a_comparison(6.5).line()


def test_without_a_bound_nothing_is_missed() -> None:
    assert a_comparison(100.0, bound=None).kept
    assert "MISSED" not in a_comparison(100.0, bound=None).line()


def test_one_lost_write_in_five_runs_is_a_promise_broken() -> None:
    figure = Figure(name="lost", unit="", values=(0, 0, 1, 0, 0), judged_by=largest, bound=0)

    assert not figure.kept
    assert "MISSED" in figure.line()


@pytest.mark.parametrize(("long_ones", "kept"), [(0, True), (1, True), (2, False)])
def test_nineteen_of_twenty_gaps_are_to_be_short(long_ones: int, kept: bool) -> None:
    gaps = (0.2,) * (20 - long_ones) + (1.5,) * long_ones
    below = share_below(1.0)

    figure = Figure(name="gaps", unit="", values=gaps, judged_by=below, better=Better.HIGHER, bound=95)

    assert figure.kept is kept


def test_what_is_written_down_can_be_read_by_a_program() -> None:
    for result in (a_comparison(6.0), Figure(name="gaps", unit="s", values=(0.5,), judged_by=share_below(1.0))):
        assert json.loads(json.dumps(result.figures()))["kept"] is True


@pytest.mark.parametrize(
    ("value", "text"), [(0.0, "0"), (0.034, "0.03"), (5.123, "5.12"), (12.34, "12.3"), (5000.4, "5000")]
)
def test_figures_have_as_many_digits_as_are_worth_reading(value: float, text: str) -> None:
    assert digits(value) == text
