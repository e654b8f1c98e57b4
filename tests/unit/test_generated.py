from __future__ import annotations

from dev.generate import differing


def test_what_is_generated_is_committed_as_it_would_be_generated_now() -> None:
    assert not differing(), "run `make generate` and commit what it writes"
