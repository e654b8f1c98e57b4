"""Often at first, seldom later; and what hangs holds nobody up."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from etcd_operator.member.waiting import Journal, Questions, pause_after

LONG = 60.0


@pytest.fixture
def hanging() -> Iterator[threading.Event]:
    """Until it is set, at the latest at the end of the test."""
    event = threading.Event()
    yield event
    event.set()


def test_pauses_grow_with_the_time_waited_up_to_a_second() -> None:
    pauses = [pause_after(waited) for waited in (0.0, 0.7, 2.0, 10.0, 15.0, 3600.0)]

    assert pauses == pytest.approx([0.05, 0.05, 0.14, 0.7, 1.0, 1.0])


def test_a_first_minute_takes_less_than_120_tries() -> None:
    waited, tries = 0.0, 0
    while waited < 60:
        waited, tries = waited + pause_after(waited), tries + 1

    assert 60 < tries < 120


def test_all_questions_are_asked_at_once() -> None:
    both = threading.Barrier(2)

    found = Questions({"a": lambda: both.wait(LONG), "b": lambda: both.wait(LONG)}).ask(within=LONG)

    assert sorted(found.values()) == [0, 1]


def test_a_question_that_hangs_does_not_hold_up_the_others(hanging: threading.Event) -> None:
    questions = Questions({"hangs": lambda: hanging.wait(LONG), "answers": lambda: True})

    assert questions.ask(within=0.2) == {"answers": True}


def test_a_question_that_hangs_is_not_asked_again_and_its_answer_counts_when_it_comes(
    hanging: threading.Event,
) -> None:
    asked: list[str] = []

    def question() -> str:
        asked.append("asked")
        hanging.wait(LONG)
        return "late"

    questions = Questions({"one": question})
    assert questions.ask(within=0.05) == {}
    assert questions.ask(within=0.05) == {}
    hanging.set()

    assert questions.ask(within=LONG) == {"one": "late"}
    assert asked == ["asked"]


def test_a_sentence_is_said_once_until_another_is(capsys: pytest.CaptureFixture[str]) -> None:
    journal = Journal()
    for sentence in ("waiting", "waiting", "found", "waiting"):
        journal.say(sentence)

    assert capsys.readouterr().out.split() == ["waiting", "found", "waiting"]
