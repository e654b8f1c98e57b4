"""The disks behind the volumes: real file systems on loop devices, in a mount namespace of the test's own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from box.layout import REPOSITORY


def alone(tmp_path: Path, script: str) -> str:
    """Run a script with `volumes`, `root` and a few words, in a mount namespace that ends with it."""
    words = f"""
import os, shutil, subprocess
from pathlib import Path
from box.volume import volumes
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


def test_a_large_volume_costs_little_disk_and_time_until_it_is_used(tmp_path: Path) -> None:
    alone(
        tmp_path,
        """
volumes.make("pvc-1", size=50 << 30, root=root)
assert total("pvc-1") > 49 << 30
assert os.stat(root / "pvc-1.img").st_blocks * 512 < 100 * MiB
""",
    )


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


def test_actions_on_a_node_wait_for_each_other(tmp_path: Path) -> None:
    alone(
        tmp_path,
        """
import sys
argv = [sys.executable, "-m", "box.volume.volumes", "--root", str(root)]
for _ in range(5):
    making = [subprocess.Popen([*argv, "make", "pvc-1", "--size", str(32 * MiB)]) for _ in range(6)]
    assert [process.wait() for process in making] == [0] * 6, "they were in each other's way"
    assert 20 * MiB < total("pvc-1") <= 32 * MiB and len(loops("pvc-1")) == 1
    volumes.remove("pvc-1", root=root)
    assert os.listdir(root) == []
""",
    )
