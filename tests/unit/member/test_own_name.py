"""Which answers of DNS will do."""

from __future__ import annotations

from pathlib import Path

import pytest

from etcd_operator.member.own_name import Found, lookup, objection
from tests.unit.member.pods import Pod


def said(tmp_path: Path, found: Found | None, *, pod_ip: str = "") -> str | None:
    return objection(found, Pod(tmp_path / "volume", {"POD_IP": pod_ip}).settings)


def test_any_address_will_do_for_a_pod_that_does_not_know_its_own(tmp_path: Path) -> None:
    assert said(tmp_path, Found(frozenset(["10.0.0.1"]))) is None


def test_one_of_the_pods_own_addresses_is_enough(tmp_path: Path) -> None:
    assert said(tmp_path, Found(frozenset(["10.0.0.1", "10.0.0.9"])), pod_ip="fd00::1,10.0.0.1") is None


def test_the_address_of_the_pod_before_will_not_do(tmp_path: Path) -> None:
    found = Found(frozenset(["10.0.0.9"]))

    assert said(tmp_path, found, pod_ip="10.0.0.1") == "localhost resolves to 10.0.0.9, and this pod is 10.0.0.1."


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (None, "The lookup of localhost gets no answer."),
        (Found(frozenset(), "Name or service not known"), "localhost does not resolve (Name or service not known)."),
    ],
)
def test_no_address_will_not_do(tmp_path: Path, found: Found | None, words: str) -> None:
    assert said(tmp_path, found) == words


def test_a_name_is_looked_up() -> None:
    assert lookup("localhost").addresses & {"127.0.0.1", "::1"}


def test_an_address_is_its_own_name_without_its_zone() -> None:
    assert lookup("127.0.0.7").addresses == {"127.0.0.7"}


def test_a_name_that_cannot_be_is_told() -> None:
    found = lookup(f"{'x' * 64}.svc")

    assert not found.addresses
    assert found.why
