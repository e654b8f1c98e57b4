"""What is found on real files, whole and half-written."""

from __future__ import annotations

from pathlib import Path

import pytest

from etcd_operator.member.disk import Disk, Illegible, Marker, look, own_marker, read_marker, write_marker
from tests.unit.member.pods import UID, Pod

OWN = Marker(UID, "demo-b")


@pytest.fixture
def pod(tmp_path: Path) -> Pod:
    return Pod(tmp_path / "volume")


def test_a_new_volume_is_empty(pod: Pod) -> None:
    (pod.volume / "lost+found").mkdir()

    assert look(pod.settings) == Disk(marker=None, has_wal=False, has_files=False, read_only=False)


def test_an_empty_data_directory_is_as_good_as_none(pod: Pod) -> None:
    pod.data.mkdir()

    assert not look(pod.settings).has_files


def test_a_member_finds_its_log_and_its_marker(pod: Pod) -> None:
    pod.mark()
    pod.fill("member/wal/0000000000000000-0000000000000000.wal", "member/snap/db")

    found = look(pod.settings)

    assert found == Disk(marker=OWN, has_wal=True, has_files=True, read_only=False)
    assert found.marker == own_marker(pod.settings)


@pytest.mark.parametrize("file", ["member/snap/db", "member/wal/0.tmp", "member/wal.tmp/0.wal", "wal/0.wal"])
def test_what_a_start_leaves_that_was_cut_off_is_no_log(pod: Pod, file: str) -> None:
    pod.fill(file)

    found = look(pod.settings)

    assert not found.has_wal
    assert found.has_files


def test_a_marker_is_read_as_it_was_written(pod: Pod) -> None:
    write_marker(pod.marker, OWN)

    assert read_marker(pod.marker) == OWN
    assert [path.name for path in pod.volume.iterdir()] == ["member.json"]


def test_a_marker_whose_writing_was_cut_off_was_never_there_and_is_no_hindrance(pod: Pod) -> None:
    (pod.volume / "member.json.tmp").write_text('{"cluster": "5f0c4a52-1c1a-4c57-9a5e-0d5b7a1f7a11", "mem' + 300 * " ")
    assert look(pod.settings).marker is None

    write_marker(pod.marker, OWN)

    assert look(pod.settings).marker == OWN


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"cluster": "x"}', b'{"cluster": 1, "member": "y"}', b"\xff"])
def test_a_marker_that_names_nobody_is_still_a_marker(pod: Pod, content: bytes) -> None:
    pod.marker.write_bytes(content)

    assert isinstance(look(pod.settings).marker, Illegible)


def test_a_marker_may_say_more_than_is_known_today(pod: Pod) -> None:
    pod.marker.write_text(f'{{"cluster": "{UID}", "member": "demo-b", "since": "3.9"}}')

    assert look(pod.settings).marker == OWN


def test_a_disk_that_cannot_be_read_is_never_taken_for_an_empty_one(pod: Pod) -> None:
    pod.data.write_text("a file where a directory should be")

    with pytest.raises(NotADirectoryError):
        look(pod.settings)


def test_a_volume_that_is_not_there_is_never_taken_for_an_empty_one(pod: Pod) -> None:
    settings = pod.settings
    pod.volume.rmdir()

    with pytest.raises(FileNotFoundError):
        look(settings)
