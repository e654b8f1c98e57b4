"""How an object storage is told to fail."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from box.layout import BoxError
from box.storage.rules import FaultFile, Rule


def test_without_a_rule_nothing_fails(tmp_path: Path) -> None:
    mark, rule = FaultFile(tmp_path / "fault.json").get()

    assert (mark, rule) == ("", Rule())
    assert not rule.meets(method="GET", target="/", earlier=0)


@pytest.mark.parametrize(
    ("rule", "method", "target", "earlier", "meets"),
    [
        (Rule("500"), "GET", "/b/k", 10, True),
        (Rule("500", method="put"), "PUT", "/b/k", 0, True),
        (Rule("500", method="PUT"), "GET", "/b/k", 0, False),
        (Rule("500", match="uploadId="), "PUT", "/b/k?partNumber=1&uploadId=x", 0, True),
        (Rule("500", match="uploadId="), "PUT", "/b/k", 0, False),
        (Rule("500", count=2), "PUT", "/b/k", 1, True),
        (Rule("500", count=2), "PUT", "/b/k", 2, False),
    ],
)
def test_which_requests_meet_a_rule(rule: Rule, method: str, target: str, earlier: int, meets: bool) -> None:
    assert rule.meets(method=method, target=target, earlier=earlier) is meets


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"mode": "explode"}, "There is no fault 'explode'; there are: ok, refuse"),
        ({"mode": "slow"}, "bytes per second"),
        ({"mode": "500", "count": 0}, "begin at 1"),
    ],
)
def test_a_rule_that_makes_no_sense_is_refused(wrong: dict[str, object], words: str) -> None:
    with pytest.raises(BoxError, match=words):
        Rule(**wrong)  # type: ignore[arg-type]


def test_a_rule_says_what_it_does() -> None:
    assert Rule().describe() == "works"
    assert Rule("hang").describe() == "connections are accepted, requests never answered: all requests"
    assert Rule("500", count=3, method="put", match="backup").describe() == (
        "requests are answered with 500 InternalError: the next 3 PUT requests with 'backup'"
    )
    assert Rule("cut", amount=1000, count=1).describe().endswith(" (1000 bytes): the next request")


def test_a_command_returns_when_the_proxy_follows(tmp_path: Path) -> None:
    file = FaultFile(tmp_path / "fault.json")

    def proxy() -> None:
        file.follow(file.get()[0], 3)

    threading.Timer(0.2, proxy).start()
    file.set(Rule("500"), timeout=5)

    assert file.followed()
    assert file.hits() == 3


def test_a_command_does_not_wait_for_ever(tmp_path: Path) -> None:
    with pytest.raises(BoxError, match="within 0 s"):
        FaultFile(tmp_path / "fault.json").set(Rule("500"), timeout=0.1)


def test_the_same_rule_again_counts_from_zero(tmp_path: Path) -> None:
    file = FaultFile(tmp_path / "fault.json")
    file.set(Rule("500"))
    file.follow(file.get()[0], 3)
    file.set(Rule("500"))

    assert not file.followed()
    assert file.hits() == 0


def test_an_answer_of_an_earlier_run_can_be_dropped(tmp_path: Path) -> None:
    file = FaultFile(tmp_path / "fault.json")
    file.follow("", 0)
    assert file.followed()

    file.forget()
    assert not file.followed()


def test_a_file_with_something_else_in_it_is_named(tmp_path: Path) -> None:
    path = tmp_path / "fault.json"
    path.write_text(json.dumps({"mode": "500", "colour": "red"}))

    with pytest.raises(BoxError, match="is not a fault"):
        FaultFile(path).get()
