"""No call of the client is left without a test against real servers."""

from __future__ import annotations

import inspect
from pathlib import Path

from etcd_operator.etcd.member import Member

TESTS = "".join(path.read_text() for path in Path(__file__).parent.glob("test_*.py"))


def test_every_call_of_the_client_is_made_by_a_test() -> None:
    calls = [name for name, _ in inspect.getmembers(Member, inspect.isfunction) if not name.startswith("_")]
    of_the_machinery = {"call", "check", "cut_off", "failure", "forget_token", "line", "metadata", "settle"}
    asked = set(calls) - of_the_machinery

    assert len(asked) > 40
    assert sorted(name for name in asked if f".{name}(" not in TESTS) == []
