"""A watch's stream of bytes, cut anywhere, is the same events."""

from __future__ import annotations

import json
from itertools import pairwise

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from etcd_operator.kube.errors import GoneError, ServerError, UnreadableError
from etcd_operator.kube.objects import PartialObject
from etcd_operator.kube.watch import ChangeKind, EventDecoder, Lines

LINES = st.lists(st.binary(min_size=1, max_size=40).map(lambda line: line.replace(b"\n", b"x")), max_size=8)


class Strict(PartialObject, frozen=True, kw_only=True):
    spec: dict[str, int]


def cut(whole: bytes, places: list[int]) -> list[bytes]:
    edges = [0, *sorted(place % (len(whole) + 1) for place in places), len(whole)]
    return [whole[begin:end] for begin, end in pairwise(edges)]


def event(word: str, **content: object) -> bytes:
    return json.dumps({"type": word, "object": content}).encode()


@given(LINES, st.binary(max_size=10).map(lambda rest: rest.replace(b"\n", b"x")), st.lists(st.integers(0), max_size=20))
def test_any_chunks_give_the_same_lines(expected: list[bytes], rest: bytes, places: list[int]) -> None:
    whole = b"".join(line + b"\n" for line in expected) + rest
    lines = Lines()

    got = [line for chunk in cut(whole, places) for line in lines.feed(chunk)]

    assert got == expected
    assert lines.rest == rest


def test_a_line_of_many_megabytes_is_joined_once() -> None:
    lines = Lines()
    for _ in range(100_000):
        assert list(lines.feed(b"x" * 100)) == []

    assert [len(line) for line in lines.feed(b"\n")] == [10_000_000]


def test_empty_lines_are_nothing() -> None:
    assert list(Lines().feed(b"\n\na\n\n")) == [b"a"]


def test_an_event_is_a_change_of_an_object() -> None:
    line = event("MODIFIED", metadata={"name": "a", "resourceVersion": "7", "labels": {"x": "y"}}, spec={"other": 1})

    change = EventDecoder(PartialObject).decode(line)

    assert change is not None
    assert change.kind is ChangeKind.MODIFIED
    assert (change.object.metadata.name, change.object.metadata.labels) == ("a", {"x": "y"})


def test_an_error_in_the_stream_is_raised_as_what_it_says() -> None:
    decoder = EventDecoder(PartialObject, request="WATCH")
    gone = event("ERROR", kind="Status", code=410, reason="Expired", message="too old resource version: 1 (2)")
    late = event("ERROR", kind="Status", code=504, reason="Timeout", message="Too large resource version")

    with pytest.raises(GoneError, match=r"too old resource version: 1 \(2\)"):
        decoder.decode(gone)
    with pytest.raises(ServerError, match="Too large"):
        decoder.decode(late)


def test_a_bookmark_without_the_fields_asked_for_is_passed_over() -> None:
    decoder = EventDecoder(Strict)
    bookmark = event("BOOKMARK", metadata={"resourceVersion": "9"})

    assert decoder.decode(bookmark) is None
    with pytest.raises(UnreadableError, match="a is not a Strict"):
        decoder.decode(event("ADDED", metadata={"name": "a"}))


def test_undecoded_events_keep_bookmarks() -> None:
    change = EventDecoder(msgspec.Raw).decode(event("BOOKMARK", metadata={"resourceVersion": "9"}))

    assert change is not None
    assert msgspec.json.decode(change.object) == {"metadata": {"resourceVersion": "9"}}


@pytest.mark.parametrize("line", [b"{", b"[]", b'{"type": "NEW", "object": {}}', b'{"type": "ADDED"}', b"\xff"])
def test_what_is_no_event_is_unreadable(line: bytes) -> None:
    with pytest.raises(UnreadableError):
        EventDecoder(PartialObject).decode(line)
