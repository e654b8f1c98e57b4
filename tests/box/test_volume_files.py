"""The disks behind the volumes: real file systems on loop devices, in a mount namespace of the test's own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from box.layout import REPOSITORY, BoxError
from box.volume import volumes

MiB = 1 << 20

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="mounting needs root")


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


def alone(tmp_path: Path, script: str) -> str:
    """Run a script with `volumes`, `root` and a few words, in a mount namespace that ends with it."""
    words = f"""
import os, shutil, subprocess
from pathlib import Path
from box import volumes
from box.layout import BoxError
root = Path({str(tmp_path)!r})
MiB = 1 << 20
def total(name): return shutil.disk_usage(root / name).total
def fill(name):
    written = 0
    try:
        with open(root / name / "filling", "ab", buffering=0) as file:
            while True: written += file.write(bytes(MiB))
    except OSError as error:
        assert error.errno == 28, error
    return written
def loops(name):
    image = root / (name + ".img")
    return subprocess.run(["losetup", "--associated", image], capture_output=True, text=True).stdout.splitlines()
"""
    done = subprocess.run(
        ["unshare", "--mount", sys.executable, "-c", words + script],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@needs_root
def test_a_sized_volume_holds_its_size_and_no_more(tmp_path: Path) -> None:
    alone(
        tmp_path,
        """
volumes.make("pvc-1", size=64 * MiB, root=root)
assert os.path.getsize(root / "pvc-1.img") == 64 * MiB
assert 50 * MiB < total("pvc-1") <= 64 * MiB
assert os.listdir(root / "pvc-1") == []
assert os.stat(root / "pvc-1").st_mode & 0o777 == 0o777
assert 40 * MiB < fill("pvc-1") < 64 * MiB
volumes.remove("pvc-1", root=root)
assert os.listdir(root) == []
""",
    )


@needs_root
def test_a_full_volume_that_grows_has_room_again_while_it_is_in_use(tmp_path: Path) -> None:
    alone(
        tmp_path,
        """
volumes.make("pvc-1", size=32 * MiB, root=root)
in_use = open(root / "pvc-1" / "open", "wb")
fill("pvc-1")
volumes.grow("pvc-1", size=128 * MiB + 1, root=root)
assert total("pvc-1") > 100 * MiB
assert fill("pvc-1") > 80 * MiB
volumes.grow("pvc-1", size=128 * MiB + 1, root=root)
volumes.grow("pvc-1", size=64 * MiB, root=root)
assert total("pvc-1") > 100 * MiB, "asking for less changes nothing"
""",
    )


@needs_root
def test_a_large_volume_costs_little_disk_and_time_until_it_is_used(tmp_path: Path) -> None:
    alone(
        tmp_path,
        """
volumes.make("pvc-1", size=50 << 30, root=root)
assert total("pvc-1") > 49 << 30
assert os.stat(root / "pvc-1.img").st_blocks * 512 < 100 * MiB
""",
    )


@needs_root
def test_after_the_nodes_death_no_device_is_left_and_a_start_mounts_all_again(tmp_path: Path) -> None:
    alone(
        tmp_path,
        """
for name in ("pvc-1", "pvc-2"):
    volumes.make(name, size=32 * MiB, root=root)
    (root / name / "kept").write_text(name)
""",
    )
    alone(
        tmp_path,
        """
assert not (root / "pvc-1" / "kept").exists()
assert volumes.remount(root) == []
assert (root / "pvc-1" / "kept").read_text() == "pvc-1"
assert (root / "pvc-2" / "kept").read_text() == "pvc-2"
assert len(loops("pvc-1")) == 1
assert volumes.remount(root) == [], "a second time changes nothing"
assert len(loops("pvc-1")) == 1
""",
    )
    images = [str(image) for image in tmp_path.glob("*.img")]
    left = subprocess.run(["losetup", "--all"], capture_output=True, text=True, check=True).stdout
    assert not [image for image in images if image in left]


@needs_root
def test_a_broken_image_does_not_keep_the_others_from_being_mounted(tmp_path: Path) -> None:
    alone(
        tmp_path,
        """
volumes.make("pvc-2", size=32 * MiB, root=root)
subprocess.run(["umount", root / "pvc-2"], check=True)
(root / "pvc-1.img").write_bytes(bytes(32 * MiB))
problems = volumes.remount(root)
assert len(problems) == 1 and "pvc-1" in problems[0], problems
assert total("pvc-2") < 64 * MiB
""",
    )


@needs_root
def test_a_making_that_was_interrupted_is_begun_again(tmp_path: Path) -> None:
    alone(
        tmp_path,
        """
(root / "pvc-1.draft").write_bytes(b"half a file system")
(root / "pvc-1").mkdir()
volumes.make("pvc-1", size=32 * MiB, root=root)
assert 20 * MiB < total("pvc-1") <= 32 * MiB
volumes.remove("pvc-1", root=root)
assert os.listdir(root) == []
""",
    )


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
