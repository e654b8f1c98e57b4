from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from etcd_operator.kube.events import EventType, Reference, Reporter, Series, event, reference, shortened
from etcd_operator.kube.resources import CONFIG_MAPS
from tests.unit.kube.objects import an_object

text = st.text(max_size=600)


@given(text=text, size=st.integers(3, 1200))
def test_a_text_is_shortened_to_the_bytes_there_are_room_for_and_says_so(text: str, size: int) -> None:
    short = shortened(text, size)

    assert len(short.encode()) <= size
    if short != text:
        assert len(text.encode()) > size
        assert short.endswith("…")
        assert text.startswith(short[:-1])


def test_every_field_keeps_to_the_limits_of_the_server() -> None:
    long = "ä" * 5000
    regarding = Reference("v1", "ConfigMap", "n" * 253, namespace="ns")
    what = event(regarding, reason=long, note=long, type=EventType.NORMAL, action="")

    manifest = Series(what, now=0.0, at=datetime(2026, 11, 15, tzinfo=UTC)).manifest(Reporter("controller", long))

    assert len(manifest["metadata"]["name"]) <= 253
    assert len(manifest["reason"].encode()) <= 128
    assert len(manifest["action"].encode()) <= 128
    assert len(manifest["reportingInstance"].encode()) <= 128
    assert len(manifest["note"].encode()) <= 1024


def test_the_reason_is_the_action_where_there_is_no_better_word() -> None:
    regarding = Reference("v1", "ConfigMap", "a", namespace="ns")

    assert event(regarding, reason="MemberAdded", note="", type=EventType.NORMAL, action="").action == "MemberAdded"


def test_an_object_is_referred_to_by_all_that_identifies_it() -> None:
    assert reference(CONFIG_MAPS, an_object("a")) == Reference("v1", "ConfigMap", "a", namespace="ns", uid="uid-of-a")
