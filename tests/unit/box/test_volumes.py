"""The folders behind the volumes, and the command that makes them; file systems are tested with the box."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from box.layout import BoxError
from box.volume import volumes

MiB = 1 << 20


def test_one_class_is_the_default_and_all_can_grow_and_wait_for_the_first_pod() -> None:
    classes = {str(made["provisioner"]): made for made in volumes.storage_classes()}

    assert set(classes) == {"box.local/directory", "box.local/sized"}
    for made in classes.values():
        assert made["volumeBindingMode"] == "WaitForFirstConsumer"
        assert made["allowVolumeExpansion"] is True
        assert made["reclaimPolicy"] == "Delete"
    defaults = [made["metadata"] for made in classes.values() if '"true"' in json.dumps(made["metadata"])]
    assert defaults == [
        {"name": "box-local", "annotations": {"storageclass.kubernetes.io/is-default-class": "true"}},
    ]


def test_a_directory_is_made_for_everyone_and_removed_with_all_in_it(tmp_path: Path) -> None:
    volumes.make("pvc-1", size=None, root=tmp_path)
    (tmp_path / "pvc-1" / "file").write_text("data")

    assert (tmp_path / "pvc-1").stat().st_mode & 0o777 == 0o777
    volumes.remove("pvc-1", root=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_making_and_removing_again_changes_nothing(tmp_path: Path) -> None:
    volumes.make("pvc-1", size=None, root=tmp_path)
    (tmp_path / "pvc-1" / "file").write_text("data")
    volumes.make("pvc-1", size=None, root=tmp_path)

    assert (tmp_path / "pvc-1" / "file").read_text() == "data"
    volumes.remove("pvc-1", root=tmp_path)
    volumes.remove("pvc-1", root=tmp_path)


def test_growing_a_directory_is_nothing(tmp_path: Path) -> None:
    volumes.make("pvc-1", size=None, root=tmp_path)
    volumes.grow("pvc-1", size=MiB, root=tmp_path)


def test_a_volume_is_unclaimed_until_it_is_settled(tmp_path: Path) -> None:
    volumes.make("pvc-1", size=None, root=tmp_path)
    volumes.make("pvc-2", size=None, root=tmp_path)
    volumes.settle("pvc-1", root=tmp_path)

    assert volumes.unclaimed(root=tmp_path) == ["pvc-2"]


def test_a_file_system_that_is_too_small_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BoxError, match="at least 16Mi"):
        volumes.make("pvc-1", size=MiB, root=tmp_path)


def test_starting_a_node_without_volumes_is_no_problem(tmp_path: Path) -> None:
    assert volumes.remount(tmp_path / "missing") == []


def test_the_command_line_does_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = ["--root", str(tmp_path)]

    assert volumes.main([*root, "make", "pvc-1"]) == 0
    assert volumes.main([*root, "make", "pvc-2"]) == 0
    assert volumes.main([*root, "settle", "pvc-1"]) == 0
    assert volumes.main([*root, "unclaimed"]) == 0
    assert capsys.readouterr().out.split() == ["pvc-2"]
    assert volumes.main([*root, "remove", "pvc-2"]) == 0
    assert [file.name for file in tmp_path.iterdir()] == ["pvc-1"]


def test_on_the_command_line_an_error_is_one_line_and_a_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert volumes.main(["--root", str(tmp_path), "make", "pvc-1", "--size", "1"]) == 1
    assert "at least 16Mi" in capsys.readouterr().err
