from __future__ import annotations

import pytest

from etcd_operator.cluster.last_words import LONGEST, last_words

PANIC = """\
{"level":"warn","msg":"slow disk"}
panic: unmarshal should never fail

goroutine 1 [running]:
main.main()
        /src/main.go:10
"""


@pytest.mark.parametrize(
    ("log", "words"),
    [
        ("", ""),
        ("2026-11-15 C | etcdmain: member count is unequal\n", "2026-11-15 C | etcdmain: member count is unequal"),
        ('{"level":"fatal","msg":"discovery failed","error":"no quorum"}\n', "discovery failed: no quorum"),
        ('{"level":"fatal","msg":"listen failed"}\n{"level":"info","msg":"bye"}', "listen failed"),
        ('{"level":"info","msg":"bye"}', '{"level":"info","msg":"bye"}'),
        (PANIC, "panic: unmarshal should never fail"),
        ('cut off in the middle"}\n{"level":"panic","msg":"tocommit is out of range"}', "tocommit is out of range"),
    ],
)
def test_of_a_log_the_line_is_taken_that_says_why_it_ended(log: str, words: str) -> None:
    assert last_words(log) == words


def test_a_long_line_is_cut() -> None:
    assert len(last_words("x" * 5000)) == LONGEST
