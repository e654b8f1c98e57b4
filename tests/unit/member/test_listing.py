"""What the peers' lists mean to a joiner."""

from __future__ import annotations

from pathlib import Path

import pytest

from etcd_operator.member.listing import AfterOthers, Answers, Listed, Members, NotYet, Silence, compare, members_in
from etcd_operator.member.refusal import Reason, Refusal
from etcd_operator.member.settings import Settings
from etcd_operator.member.verdict import Start
from tests.unit.member.pods import Pod

A, B, C = ("http://a:2380", "http://b:2380", "http://c:2380")
NAMES = {A: "demo-a", B: "demo-b", C: "demo-c"}


@pytest.fixture
def joiner(tmp_path: Path) -> Settings:
    """demo-c, which comes to demo-a and demo-b."""
    cluster = ",".join(f"{name}={url}" for url, name in NAMES.items())
    return Pod(tmp_path / "volume", {"MEMBER_NAME": "demo-c", "INITIAL_CLUSTER": cluster}).settings


def members(*urls: str, started: str = "ab") -> Members:
    return tuple(Listed(NAMES.get(url, "") if url[7] in started else "", frozenset([url])) for url in urls)


def sentence(answers: Answers, settings: Settings) -> str:
    outcome = compare(answers, settings)
    assert isinstance(outcome, NotYet)
    return outcome.why


def test_a_joiner_that_every_peer_lists_may_start(joiner: Settings) -> None:
    outcome = compare({A: members(A, B, C), B: members(C, B, A)}, joiner)

    assert outcome == Start("demo-c is listed by demo-a, demo-b.")


def test_one_peer_is_enough_if_the_others_are_silent(joiner: Settings) -> None:
    assert isinstance(compare({A: Silence("refused"), B: members(A, B, C)}, joiner), Start)


def test_of_two_that_join_together_the_first_by_name_starts_first(joiner: Settings, tmp_path: Path) -> None:
    cluster = ",".join(f"{name}={url}" for url, name in NAMES.items())
    other = Pod(tmp_path / "other", {"MEMBER_NAME": "demo-b", "INITIAL_CLUSTER": cluster}).settings
    said = members(A, B, C, started="a")

    assert compare({A: said, B: Silence("refused")}, joiner) == AfterOthers("demo-c is listed and starts after demo-b.")
    assert isinstance(compare({A: said, C: Silence("refused")}, other), Start)


def test_the_second_starts_as_soon_as_one_peer_lists_the_first_as_started(joiner: Settings) -> None:
    assert isinstance(compare({A: members(A, B, C, started="a"), B: members(A, B, C)}, joiner), Start)


def test_without_any_answer_it_waits_and_says_what_became_of_each(joiner: Settings) -> None:
    said = sentence({B: Silence("timed out"), A: Silence("Connection refused")}, joiner)

    assert said == "No peer lists the members yet: http://a:2380: Connection refused; http://b:2380: timed out."


def test_it_waits_until_it_is_added(joiner: Settings) -> None:
    assert sentence({A: members(A, B), B: Silence("")}, joiner) == "demo-a does not list demo-c yet."


def test_it_waits_for_the_peer_that_lags_behind(joiner: Settings) -> None:
    assert sentence({A: members(A, B, C), B: members(A, B)}, joiner) == "demo-b does not list demo-c yet."


@pytest.mark.parametrize(
    ("listed", "difference"),
    [
        ((A,), "- http://b:2380, - http://c:2380"),
        ((A, C), "- http://b:2380"),
        ((A, B, "http://x:2380"), "+ http://x:2380, - http://c:2380"),
        ((A, B, C, "http://x:2380"), "+ http://x:2380"),
        ((A, B, B, C), "+ http://b:2380"),
        ((), "- http://a:2380, - http://b:2380, - http://c:2380"),
    ],
)
def test_a_list_that_moved_is_told_with_the_difference(
    joiner: Settings, listed: tuple[str, ...], difference: str
) -> None:
    said = sentence({A: members(*listed), B: Silence("")}, joiner)

    assert f"another than this pod was made for ({difference})" in said


def test_a_member_with_two_urls_must_be_listed_with_both(tmp_path: Path) -> None:
    cluster = "demo-a=http://a:1,demo-a=http://a:2,demo-b=http://b:1"
    settings = Pod(tmp_path / "volume", {"INITIAL_CLUSTER": cluster}).settings
    one, both = frozenset(["http://a:1"]), frozenset(["http://a:1", "http://a:2"])
    me = Listed("", frozenset(["http://b:1"]))

    assert isinstance(compare({"http://a:1": (Listed("demo-a", both), me)}, settings), Start)
    assert isinstance(compare({"http://a:1": (Listed("demo-a", one), me)}, settings), NotYet)


@pytest.mark.parametrize("listed", [(A, B, C), (A, C), (C,)])
def test_a_joiner_that_is_listed_as_started_has_lost_its_disk(joiner: Settings, listed: tuple[str, ...]) -> None:
    """Its identity may not have been written down yet: the operator was away between its start and its loss."""
    outcome = compare({A: members(A, B), B: members(*listed, started="abc")}, joiner)

    assert isinstance(outcome, Refusal)
    assert outcome.reason is Reason.DISK_LOST


def test_the_list_is_read_as_etcd_writes_it() -> None:
    body = (
        b'[{"id":10276657743932975437,"peerURLs":["http://a:1","http://a:2"],"name":"demo-a","clientURLs":["http://a:3"]},'
        b'{"id":7,"peerURLs":["http://b:1"],"isLearner":true}]'
    )

    assert members_in(body) == (
        Listed("demo-a", frozenset(["http://a:1", "http://a:2"])),
        Listed("", frozenset(["http://b:1"])),
    )


def test_a_name_that_a_starting_peer_has_from_its_own_flags_is_no_sign_of_life() -> None:
    """It has no URLs for clients then, in no version: those come with the first start."""
    assert members_in(b'[{"id":7,"peerURLs":["http://b:1"],"name":"demo-b"}]') == (
        Listed("", frozenset(["http://b:1"])),
    )


@pytest.mark.parametrize(
    "body", [b"", b"404 page not found", b"{}x", b"7", b"[7]", b'[{"id": 7}]', b'[{"peerURLs": 7}]']
)
def test_what_is_no_list_is_no_list(body: bytes) -> None:
    with pytest.raises(ValueError, match=r"list|Expecting|Extra"):
        members_in(body)
