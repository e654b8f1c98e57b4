"""No call of the client is left without a test against real servers."""

from __future__ import annotations

import inspect
from pathlib import Path

from etcd_operator.etcd.call import Caller
from etcd_operator.etcd.member import Member


def calls_of(kind: type) -> set[str]:
    return {name for name, _ in inspect.getmembers(kind, inspect.isfunction) if not name.startswith("_")}


def test_every_call_of_the_client_is_made_by_a_test() -> None:
    asked = calls_of(Member) - calls_of(Caller)  # how a call is made is not a call
    tests = "".join(path.read_text() for path in Path(__file__).parent.glob("test_*.py"))

    assert len(asked) > 40
    assert sorted(name for name in asked if f".{name}(" not in tests) == []
