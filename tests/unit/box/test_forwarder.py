"""The cable with a delay: its rules, and the frames it holds back."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest

from box.layout import BoxError
from box.network.forwarder import VNET_HEADER, Held, Rules, RulesFile, parse_rules

LEFT, RIGHT, RIGHT_TOO = "198.18.99.1", "198.18.99.2", "198.18.99.3"


def a_frame(source: str, destination: str, *, ethertype: bytes = b"\x08\x00") -> bytes:
    addresses = socket.inet_aton(source) + socket.inet_aton(destination)
    return b"\0" * VNET_HEADER + b"\0" * 12 + ethertype + b"\x45" + b"\0" * 11 + addresses + b"payload"


def test_a_delay_for_all_holds_back_every_frame() -> None:
    rules = parse_rules('{"all": 50}')

    assert rules.delay(a_frame(LEFT, RIGHT)) == 0.05
    assert rules.delay(a_frame(LEFT, RIGHT, ethertype=b"\x08\x06")) == 0.05


def test_a_delay_of_an_address_holds_back_what_comes_from_it_and_what_goes_to_it() -> None:
    rules = parse_rules(json.dumps({RIGHT: 20}))

    assert rules.delay(a_frame(LEFT, RIGHT)) == 0.02
    assert rules.delay(a_frame(RIGHT, LEFT)) == 0.02
    assert rules.delay(a_frame(LEFT, RIGHT_TOO)) == 0


def test_a_frame_that_is_not_ipv4_has_no_address() -> None:
    rules = parse_rules(json.dumps({RIGHT: 20}))

    assert rules.delay(a_frame(LEFT, RIGHT, ethertype=b"\x86\xdd")) == 0


def test_of_several_delays_the_longest_counts() -> None:
    rules = parse_rules(json.dumps({"all": 30, LEFT: 10, RIGHT: 40}))

    assert rules.delay(a_frame(LEFT, RIGHT)) == 0.04
    assert rules.delay(a_frame(LEFT, RIGHT_TOO)) == 0.03


@pytest.mark.parametrize("text", ["", "[]", '{"all": "soon"}', '{"nowhere": 5}', '{"all": null}'])
def test_what_is_no_rule_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(BoxError, match="they look like this"):
        parse_rules(text)


def test_frames_with_the_same_delay_keep_their_order() -> None:
    held = Held()
    for number in range(5):
        held.put(bytes([number]), 1.0)

    assert held.take(0.9) is None
    assert [held.take(1.0) for _ in range(6)] == [b"\0", b"\1", b"\2", b"\3", b"\4", None]


def test_what_is_more_than_the_line_holds_is_lost_and_counted() -> None:
    held = Held(most=10)
    held.put(b"12345678", 1.0)
    held.put(b"1234", 1.0)
    held.put(b"12", 2.0)

    assert held.dropped == 1
    assert [held.take(3.0) for _ in range(3)] == [b"12345678", b"12", None]
    assert held.next_due() == float("inf")


def test_a_changed_file_is_read_again_and_a_missing_one_means_no_delay(tmp_path: Path) -> None:
    path = tmp_path / "rules"
    file = RulesFile(path)
    file.look(0.0)
    assert file.rules == Rules()

    path.write_text('{"all": 5}')
    file.look(0.1)
    assert file.rules == Rules(), "it looks only five times a second"
    file.look(0.3)
    assert file.rules.everything == 0.005

    path.unlink()
    file.look(0.6)
    assert file.rules == Rules()
