"""The guard as the kubelet runs it: a process, its variables, a volume, an exit code and a termination message."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from tests.unit.member.pods import IDENTITY, UID, Pod

SEED = {"INITIAL_STATE": "new", "INITIAL_CLUSTER": "demo-b=http://127.0.0.1:2"}
NEVER_OURS = "192.0.2.1"


@pytest.fixture
def seed(tmp_path: Path) -> Pod:
    return Pod(tmp_path / "volume", dict(SEED))


@pytest.fixture
def joiner(tmp_path: Path) -> Pod:
    return Pod(tmp_path / "volume")


def test_a_seed_is_marked_and_may_start(seed: Pod) -> None:
    with seed.running() as guard:
        assert guard.end() == 0
        assert guard.log == ["demo-b begins a new cluster. etcd may start."]

    assert json.loads(seed.marker.read_text()) == {"cluster": UID, "member": "demo-b"}
    assert not seed.termination_log.exists()


def test_a_seed_whose_first_start_was_cut_off_may_start_again(seed: Pod) -> None:
    assert seed.run() == 0
    seed.fill("member/snap/db")

    assert seed.run() == 0


def test_a_member_that_ran_starts_on_its_own_disk_and_asks_nobody(joiner: Pod) -> None:
    joiner.variables["IDENTITY"] = IDENTITY
    joiner.mark()
    joiner.fill("member/wal/0.wal")

    assert joiner.run() == 0


def test_a_member_that_ran_is_refused_an_empty_disk_and_leaves_it_empty(seed: Pod) -> None:
    seed.variables["IDENTITY"] = IDENTITY

    assert seed.run() == 1
    assert seed.said["reason"] == "DiskLost"
    assert list(seed.volume.iterdir()) == []


def test_anothers_disk_is_refused_and_left_as_it_is(joiner: Pod) -> None:
    joiner.mark(member="demo-a")
    joiner.fill("member/wal/0.wal")
    before = joiner.marker.read_bytes()

    assert joiner.run() == 1
    assert joiner.said["reason"] == "ForeignDisk"
    assert joiner.marker.read_bytes() == before


def test_the_reason_is_one_line_in_the_log_as_well(joiner: Pod) -> None:
    joiner.mark(member="demo-a")

    with joiner.running() as guard:
        guard.end()
        assert [json.loads(line) for line in guard.log] == [joiner.said]
    assert joiner.termination_log.read_text().count("\n") == 1


def test_a_disk_is_refused_before_anybody_waits_for_dns(seed: Pod) -> None:
    seed.variables |= {"POD_IP": NEVER_OURS, "IDENTITY": IDENTITY}

    assert seed.run() == 1
    assert seed.said["reason"] == "DiskLost"


def test_a_name_that_leads_elsewhere_ends_the_wait_when_its_time_is_up(seed: Pod) -> None:
    seed.variables |= {"POD_IP": NEVER_OURS, "DNS_TIMEOUT": "0.3"}

    assert seed.run() == 1
    assert seed.said["reason"] == "DNSTimeout"
    assert "after 0.3 s without it" in seed.said["message"]
    assert not seed.marker.exists()


def test_sigterm_ends_the_wait_for_dns(seed: Pod) -> None:
    seed.variables["POD_IP"] = NEVER_OURS

    with seed.running() as guard:
        guard.wait_for("Waiting for it.")
        assert guard.terminate() == 128 + signal.SIGTERM
        assert len(guard.log) == 1


def test_a_joiner_whose_peers_are_silent_waits_and_says_so_once(joiner: Pod) -> None:
    with joiner.running() as guard:
        guard.wait_for("No peer lists the members yet: http://127.0.0.1:1: Connection refused.")
        assert guard.waits
        assert guard.terminate() == 128 + signal.SIGTERM
        assert len(guard.log) == 1
    assert not joiner.marker.exists()


def test_a_volume_that_is_not_there_is_refused(seed: Pod) -> None:
    seed.volume.rmdir()

    assert seed.run() == 1
    assert seed.said["reason"] == "DiskUnusable"
    assert "No such file or directory" in seed.said["message"]


def test_settings_that_cannot_be_meant_are_refused_with_their_name(seed: Pod) -> None:
    seed.variables["INITIAL_STATE"] = "newish"

    assert seed.run() == 1
    assert seed.said["reason"] == "BadSettings"
    assert "INITIAL_STATE is 'newish'" in seed.said["message"]


def test_a_termination_message_that_cannot_be_written_is_still_in_the_log(joiner: Pod) -> None:
    joiner.mark(member="demo-a")
    joiner.variables["TERMINATION_LOG"] = str(joiner.volume / "no" / "such" / "folder")

    with joiner.running() as guard:
        assert guard.end() == 1
        assert json.loads(guard.log[0])["reason"] == "ForeignDisk"


def test_an_error_that_nobody_thought_of_ends_with_a_reason_too_and_never_with_a_start(joiner: Pod) -> None:
    """JSON too deep for Python's reader is one such today."""
    joiner.marker.write_text("[" * 100_000)

    assert joiner.run() == 1
    assert joiner.said["reason"] == "GuardFailed"
    assert "RecursionError" in joiner.said["message"]
