from __future__ import annotations

import pytest

from etcd_operator.web.health import STUCK_SECONDS, Health, Phase, alive

LONG, SHORT = STUCK_SECONDS + 1, STUCK_SECONDS - 1


@pytest.mark.parametrize(
    ("phase", "status"),
    [
        (Phase.STARTING, 503),
        (Phase.STANDING_BY, 200),
        (Phase.PREPARING, 503),
        (Phase.LEADING, 200),
        (Phase.ENDING, 503),
    ],
)
def test_who_leads_is_ready_and_who_stands_by_too(phase: Phase, status: int) -> None:
    health = Health()

    health.enter(phase, "because")

    assert health.ready().status == status
    assert health.ready().text == f"{phase.word}: because"


@pytest.mark.parametrize(
    ("longest_turn", "since_last", "good"),
    [
        pytest.param(0, 0, True, id="at rest"),
        pytest.param(0, LONG, True, id="no clusters for hours"),
        pytest.param(LONG, SHORT, True, id="one loop hangs and others go on"),
        pytest.param(SHORT, LONG, True, id="the first turn after a long rest"),
        pytest.param(LONG, LONG, False, id="nothing gets done"),
    ],
)
def test_it_is_given_up_only_when_nothing_gets_done(longest_turn: float, since_last: float, good: bool) -> None:
    assert alive(longest_turn=longest_turn, since_last=since_last).good is good


def test_a_turn_that_ends_is_a_sign_of_life() -> None:
    time = 0.0
    health = Health(clock=lambda: time)
    health.follow(lambda: time)

    time = LONG
    assert "no loop has ended a turn for 601 s" in health.alive().text

    health.turned()
    assert health.alive().good
