"""Fetching what is pinned: by name from whatever sources the machine's own apt and pip are set up for.

No address is written here, so a mirror or a proxy that a machine is configured for is used without asking.
"""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from box.layout import BoxError
from box.progress import Say

PAUSES = (5.0, 20.0)  # seconds before the second and the third try

Result = TypeVar("Result")


class DownloadError(BoxError):
    """The network's fault, so worth another try."""


def with_retries(what: str, fetch: Callable[[], Result], *, say: Say, pauses: tuple[float, ...] = PAUSES) -> Result:
    for number, pause in enumerate(pauses, start=1):
        try:
            return fetch()
        except DownloadError as error:
            say(f"{what}: download failed ({error}), try {number + 1} of {len(pauses) + 1} in {pause:.0f} s")
            time.sleep(pause)
    try:
        return fetch()
    except DownloadError as error:
        raise BoxError(
            f"{what}: the download failed {len(pauses) + 1} times ({error}): check the network and run this again, "
            "it goes on where it stopped."
        ) from None


def last_lines(output: str, count: int) -> str:
    return "\n".join([line for line in output.splitlines() if line.strip()][-count:])


def debian_files(packages: tuple[str, ...], into: Path, *, say: Say) -> dict[str, str]:
    """Unpacks Debian packages below `into` without installing them; returns the version of each."""
    if not shutil.which("apt-get"):
        raise BoxError(
            f"apt-get is missing, so {', '.join(packages)} cannot be fetched: the box builds its images on Debian 12."
        )
    archives = into.with_name(into.name + "-archives")
    shutil.rmtree(archives, ignore_errors=True)
    archives.mkdir(parents=True)
    into.mkdir(parents=True, exist_ok=True)
    try:
        with_retries(" ".join(packages), lambda: _apt_download(packages, archives), say=say)
        return dict(_unpack(archive, into) for archive in sorted(archives.iterdir()))
    finally:
        shutil.rmtree(archives)


def _apt_download(packages: tuple[str, ...], into: Path) -> None:
    command = ["apt-get", "download", *packages]
    done = subprocess.run(command, cwd=into, capture_output=True, text=True, check=False)
    if done.returncode:
        # Lists that are absent or older than what the mirror holds: both look like a failed download.
        subprocess.run(["apt-get", "update"], capture_output=True, check=False)
        done = subprocess.run(command, cwd=into, capture_output=True, text=True, check=False)
    if done.returncode:
        raise DownloadError(last_lines(done.stderr, 1))


def _unpack(archive: Path, into: Path) -> tuple[str, str]:
    subprocess.run(["dpkg-deb", "--extract", str(archive), str(into)], check=True)
    fields = subprocess.run(
        ["dpkg-deb", "--show", "--showformat=${Package} ${Version}", str(archive)],
        check=True,
        capture_output=True,
        text=True,
    )
    name, version = fields.stdout.split()
    return name, version


def upstream_version(version: str) -> str:
    """Debian's `1:1.35.0-4+deb12u1` is release `1.35.0`."""
    without_epoch = version.rpartition(":")[2]
    return without_epoch.rpartition("-")[0] or without_epoch


def pip() -> list[str]:
    """The start of a pip command: of this Python, or of the system's when a bare environment runs the box."""
    if importlib.util.find_spec("pip"):
        return [sys.executable, "-m", "pip"]
    for name in ("pip3", "pip"):
        if found := shutil.which(name):
            return [found]
    raise BoxError("pip is missing: install the Debian package python3-pip.")


def run_pip(arguments: list[str], *, what: str, say: Say) -> None:
    def fetch() -> None:
        done = subprocess.run([*pip(), *arguments], capture_output=True, text=True, check=False)
        if done.returncode:
            raise DownloadError(last_lines(done.stderr, 1))

    with_retries(what, fetch, say=say)


def wheel(project: str, version: str, *, sha256: tuple[str, ...], into: Path, say: Say) -> Path:
    """Fetches one wheel, refused unless it has one of the given checksums."""
    into.mkdir(parents=True, exist_ok=True)
    pin = into / "requirements.txt"
    pin.write_text(f"{project}=={version} " + " ".join(f"--hash=sha256:{digest}" for digest in sha256) + "\n")
    flags = ["--quiet", "--no-deps", "--only-binary=:all:", "--require-hashes"]
    run_pip(["download", *flags, f"--dest={into}", f"--requirement={pin}"], what=f"{project} {version}", say=say)
    return next(into.glob("*.whl"))
