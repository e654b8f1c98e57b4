"""Events on Kubernetes objects."""

from __future__ import annotations

from datetime import UTC, datetime

from box.kube.events import LONGEST_MESSAGE, event
from tests.unit.box.test_claims import a_claim

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def test_an_event_is_about_its_object() -> None:
    told = event(a_claim(), "Reason", "Words.", warning=True, now=NOW)

    assert told["involvedObject"]["uid"] == "1234"
    assert told["metadata"]["namespace"] == "default"
    assert told["type"] == "Warning"
    assert told["lastTimestamp"] == "2026-01-02T03:04:05Z"


def test_the_same_words_about_the_same_object_have_the_same_name() -> None:
    first, again, other = (event(a_claim(), "Reason", words, warning=False, now=NOW) for words in ("a", "a", "b"))

    assert first["metadata"]["name"] == again["metadata"]["name"] != other["metadata"]["name"]


def test_a_message_is_no_longer_than_kubernetes_takes() -> None:
    told = event(a_claim(), "Reason", "x" * 5000, warning=False, now=NOW)

    assert len(told["message"]) == LONGEST_MESSAGE
