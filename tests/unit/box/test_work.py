"""The provisioner's queue."""

from __future__ import annotations

import threading
import time

from box.volume.work import LONGEST_PAUSE, Work, pause


def test_a_name_that_is_asked_for_twice_is_looked_at_once() -> None:
    work = Work()
    work.add("a")
    work.add("a")
    work.add("b")

    assert {work.take(), work.take()} == {"a", "b"}
    work.add("c")
    assert work.take() == "c"


def test_a_name_is_never_looked_at_by_two_at_once() -> None:
    work = Work()
    work.add("a")
    work.take()
    work.add("a")
    work.add("b")

    assert work.take() == "b"
    work.done("a")
    assert work.take() == "a"


def test_what_failed_comes_again_later() -> None:
    work = Work()
    work.add("a")
    work.take()
    begin = time.monotonic()
    work.done("a", failed=True)

    assert work.take() == "a"
    assert 0.3 < time.monotonic() - begin < 2


def test_a_change_does_not_wait_for_the_pause_after_a_failure() -> None:
    work = Work()
    for _ in range(6):
        work.add("a")
        work.take()
        work.done("a", failed=True)
    work.add("a")
    begin = time.monotonic()

    assert work.take() == "a"
    assert time.monotonic() - begin < 6, "the pause would be 12 s at least"


def test_one_who_waits_is_woken() -> None:
    work = Work()
    threading.Timer(0.1, work.add, args=("a",)).start()

    assert work.take() == "a"


def test_pauses_grow_to_a_limit() -> None:
    assert [pause(number) for number in (1, 2, 3)] == [0.5, 1.0, 2.0]
    assert pause(1000) == LONGEST_PAUSE
