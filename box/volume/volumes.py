"""The disks behind the box's volumes: what is done on a node to make, grow, remove and mount them.

This runs inside the node (`python3 -m box.volume.volumes …` in its namespaces), because only there the mounts are the
kubelet's. Each action may be killed at any point and simply begun again. A `box-sized` volume is a file system in a
file of the asked size, so a pod can fill it up like a real disk. It is XFS, because ext4 grows under a running pod only
with CAP_SYS_RESOURCE, which root has not in many virtual machines and containers. The loop device goes away by itself
with the last mount of it, also when the node loses power: nothing is left on the host.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from box.layout import BoxError

ROOT = Path("/var/box/volumes")
BLOCK = 4096
SMALLEST = 16 << 20  # the least that XFS takes; 10 MiB of it are left beside its log
RELEASE_SECONDS = 10.0
# Without these names in its environment mkfs.xfs refuses everything below 300 MB since version 5.19.
SMALL_FILE_SYSTEMS = {"TEST_DIR": "box", "TEST_DEV": "box", "QA_CHECK_FS": "box"}


@dataclass(frozen=True)
class Kind:
    """A way to make volumes, as a storage class offers it."""

    storage_class: str
    provisioner: str
    sized: bool
    default: bool


KINDS: tuple[Kind, ...] = (
    Kind("box-local", "box.local/directory", sized=False, default=True),
    Kind("box-sized", "box.local/sized", sized=True, default=False),
)


def storage_classes() -> list[dict[str, object]]:
    """Build one StorageClass per kind; a volume is made where the first pod that uses it runs."""
    return [
        {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "StorageClass",
            "metadata": {
                "name": kind.storage_class,
                "annotations": {"storageclass.kubernetes.io/is-default-class": str(kind.default).lower()},
            },
            "provisioner": kind.provisioner,
            "volumeBindingMode": "WaitForFirstConsumer",
            "allowVolumeExpansion": True,
            "reclaimPolicy": "Delete",
        }
        for kind in KINDS
    ]


def make(name: str, *, size: int | None, root: Path = ROOT) -> None:
    """Make a volume: a directory, or with a size a file system that holds no more than that.

    The note beside it says that Kubernetes may not know of it yet; see `unclaimed`.
    """
    root.mkdir(parents=True, exist_ok=True)
    _note(root, name).touch()
    folder = root / name
    folder.mkdir(exist_ok=True)
    if size is not None:
        _make_image(root, name, size)
        mount(name, root=root)
    folder.chmod(0o777)


def settle(name: str, *, root: Path = ROOT) -> None:
    """Note that Kubernetes knows the volume."""
    _note(root, name).unlink(missing_ok=True)


def unclaimed(*, root: Path = ROOT) -> list[str]:
    """List volumes whose making was begun and of which Kubernetes may never have heard."""
    return sorted(note.stem for note in root.glob("*.new"))


def grow(name: str, *, size: int, root: Path = ROOT) -> None:
    """Enlarge a file system while it is in use; a directory has no size to change."""
    image = _image(root, name)
    if not image.exists():
        return
    if image.stat().st_size < size:
        os.truncate(image, _whole_blocks(size))
    mount(name, root=root)
    _run("losetup", "--set-capacity", _mounts()[root / name])
    _run("xfs_growfs", "-d", str(root / name))


def remove(name: str, *, root: Path = ROOT) -> None:
    """Unmount and delete a volume with everything in it."""
    folder = root / name
    while folder in _mounts():
        _run("umount", str(folder))
    for file in (_image(root, name), _draft(root, name)):
        file.unlink(missing_ok=True)
    if folder.exists():
        shutil.rmtree(folder)
    settle(name, root=root)


def mount(name: str, *, root: Path = ROOT) -> None:
    """Mount the file system of a volume, if it has one and is not mounted."""
    folder = root / name
    image = _image(root, name)
    if image.exists() and folder not in _mounts():
        folder.mkdir(exist_ok=True)
        _wait_for_release(image)
        _run("mount", "-t", "xfs", "-o", "loop,noatime,discard", str(image), str(folder))


def remount(root: Path = ROOT) -> list[str]:
    """Mount everything when a node starts, before its kubelet; returns what could not be mounted and why."""
    problems = []
    for image in sorted(root.glob("*.img")):
        try:
            mount(image.stem, root=root)
        except BoxError as error:
            problems.append(str(error))
    return problems


def _make_image(root: Path, name: str, size: int) -> None:
    if size < SMALLEST:
        raise BoxError(f"A file system needs at least {SMALLEST >> 20}Mi, but {size} bytes were asked for.")
    image, draft = _image(root, name), _draft(root, name)
    if image.exists():
        return
    with draft.open("wb") as file:
        file.truncate(_whole_blocks(size))
    _run("mkfs.xfs", "-q", "-f", "-b", f"size={BLOCK}", str(draft), **SMALL_FILE_SYSTEMS)
    draft.rename(image)


def _wait_for_release(image: Path) -> None:
    """Wait until the loop device of a node that was just killed is gone."""
    end = time.monotonic() + RELEASE_SECONDS
    while _run("losetup", "--associated", str(image)) and time.monotonic() < end:
        time.sleep(0.05)


def _mounts() -> dict[Path, str]:
    """Read what is mounted where: mount point to device."""
    found = {}
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        left, _, right = line.partition(" - ")
        found[Path(left.split()[4])] = right.split()[1]
    return found


def _image(root: Path, name: str) -> Path:
    return root / f"{name}.img"


def _draft(root: Path, name: str) -> Path:
    return root / f"{name}.draft"


def _note(root: Path, name: str) -> Path:
    return root / f"{name}.new"


def _whole_blocks(size: int) -> int:
    return -(-size // BLOCK) * BLOCK


def _run(*argv: str, **variables: str) -> str:
    environment = os.environ | {"PATH": os.environ.get("PATH", "") + ":/usr/sbin:/sbin", **variables}
    try:
        done = subprocess.run(argv, capture_output=True, text=True, env=environment, check=False)
    except FileNotFoundError as error:
        raise BoxError(f"{argv[0]} is not installed; get it with: apt-get install xfsprogs mount") from error
    if done.returncode:
        raise BoxError(f"{' '.join(argv)} ended with {done.returncode}: {done.stderr.strip()}")
    return done.stdout.strip()


def _arguments(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python3 -m box.volume.volumes", description="Volumes of the node it runs on."
    )
    parser.add_argument("--root", type=Path, default=ROOT)
    actions = parser.add_subparsers(dest="action", required=True)
    for action in ("make", "grow", "remove", "settle"):
        command = actions.add_parser(action)
        command.add_argument("name")
        if action in ("make", "grow"):
            command.add_argument("--size", type=int, default=None, help="in bytes; none for a plain directory")
    actions.add_parser("unclaimed")
    actions.add_parser("remount")
    return parser.parse_args(argv)


def _act(arguments: argparse.Namespace, root: Path) -> None:
    match arguments.action:
        case "make":
            make(arguments.name, size=arguments.size, root=root)
        case "grow":
            grow(arguments.name, size=arguments.size, root=root)
        case "remove":
            remove(arguments.name, root=root)
        case "settle":
            settle(arguments.name, root=root)
        case "unclaimed":
            print("\n".join(unclaimed(root=root)))
        case "remount":
            print("\n".join(remount(root)))


@contextlib.contextmanager
def _alone(root: Path) -> Iterator[None]:
    """Wait until no other action is at work: one of a provisioner that was killed goes on when its successor begins."""
    root.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def main(argv: Sequence[str] | None = None) -> int:
    arguments = _arguments(sys.argv[1:] if argv is None else argv)
    root = arguments.root
    try:
        with _alone(root):
            _act(arguments, root)
    except (BoxError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
