from __future__ import annotations

from dev.generating.__main__ import differing, left_over, wanted


def test_what_is_generated_is_committed_as_it_would_be_generated_now() -> None:
    texts = wanted()

    assert differing(texts) == [], "run `make generate` and commit what it writes"
    assert left_over(texts) == [], "run `make generate` and commit what it removes"


def test_a_changed_a_missing_and_a_left_over_file_are_noticed() -> None:
    texts = wanted()
    first, second, *_ = texts

    assert differing({**texts, first: "something else"}) == [first]
    assert left_over({path: text for path, text in texts.items() if path != second}) == [second]
