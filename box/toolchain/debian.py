"""What the box needs from the operating system, and installing it on Debian.

Whether something is there is asked of the file system and not of dpkg: a containerd that came with Docker serves as
well, and installing Debian's beside it would remove it.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from box.layout import BoxError
from box.progress import Say
from box.toolchain.downloads import DownloadError, last_lines, with_retries

SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
LOCK_TIMEOUT = 300  # seconds; an unattended upgrade may be running
POLICY = Path("/usr/sbin/policy-rc.d")
DENY_ALL = (
    "#!/bin/sh\n# Placed by the box while it installs packages, so that none of them starts a service.\nexit 101\n"
)


@dataclass(frozen=True)
class Package:
    name: str
    reason: str
    provides: tuple[str, ...]  # programs, or files with their full path

    @property
    def missing(self) -> list[str]:
        return [what for what in self.provides if not _is_there(what)]


PACKAGES: tuple[Package, ...] = (
    Package("containerd", "runs the pods of a node", ("containerd", "ctr", "containerd-shim-runc-v2")),
    Package("runc", "starts containers for containerd", ("runc",)),
    Package(
        "containernetworking-plugins",
        "connects pods to their node",
        ("/usr/lib/cni/ptp", "/usr/lib/cni/host-local", "/usr/lib/cni/loopback"),
    ),
    Package("nftables", "services (kube-proxy), packet loss and network cuts", ("nft",)),
    Package("iproute2", "the network between the nodes", ("ip", "bridge")),
    Package("util-linux", "namespaces", ("unshare", "nsenter", "setpriv")),
    Package("mount", "the nodes' file systems", ("mount", "umount", "losetup")),
    Package("xfsprogs", "volumes of a real size", ("mkfs.xfs", "xfs_growfs")),
    Package("openssl", "certificates of the cluster", ("openssl",)),
    Package("python3-pip", "fetches wheels for the images", ("pip3",)),
    Package(
        "ca-certificates", "lets go and pip check whom they download from", ("/etc/ssl/certs/ca-certificates.crt",)
    ),
)


def _is_there(what: str) -> bool:
    if what.startswith("/"):
        return Path(what).exists()
    # Root's PATH lacks the sbin folders on some machines.
    return bool(shutil.which(what) or shutil.which(what, path=SYSTEM_PATH))


def missing(packages: Sequence[Package] = PACKAGES) -> list[Package]:
    return [package for package in packages if package.missing]


def install(packages: Sequence[Package] = PACKAGES, *, say: Say) -> None:
    """Installs what is missing; changes nothing when all of it is there."""
    _remove_leftover(POLICY)
    wanted = missing(packages)
    if not wanted:
        return
    if not shutil.which("apt-get"):
        programs = ", ".join(what for package in wanted for what in package.missing)
        raise BoxError(f"{programs} must be installed by hand: this system has no apt-get (the box knows Debian 12).")
    if os.geteuid() != 0:
        raise BoxError(f"Installing {' '.join(p.name for p in wanted)} needs root: run this with sudo.")
    for package in wanted:
        say(f"installing {package.name}: {package.reason}")
    names = [package.name for package in wanted]
    with _no_service_starts(POLICY):
        if _apt(["install", "--simulate", *names]).returncode:
            with_retries("apt-get update", _update, say=say)
        with_retries("apt-get install", lambda: _install(names), say=say)
    if "containerd" in names:
        _disable("containerd.service")
    still = [package.name for package in wanted if package.missing]
    if still:
        raise BoxError(f"{', '.join(still)} is installed but lacks its programs: `apt-get install --reinstall` it.")


def _update() -> None:
    _raise_if_failed(_apt(["update"]))


def _install(names: list[str]) -> None:
    done = _apt(["install", "--yes", "--no-install-recommends", *names])
    if is_download_failure(done.stderr):
        # Perhaps a package that the lists name and the mirror no longer has: newer lists name its successor.
        _apt(["update"])
    _raise_if_failed(done)


def _apt(arguments: list[str]) -> subprocess.CompletedProcess[str]:
    """Lets it finish what it began: a package manager that is killed leaves half a package behind."""
    command = ["apt-get", f"--option=DPkg::Lock::Timeout={LOCK_TIMEOUT}", *arguments]
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, env=environment, stdout=pipe, stderr=pipe, text=True, start_new_session=True)
    try:
        output, errors = process.communicate()
    except KeyboardInterrupt:
        process.communicate()
        raise
    return subprocess.CompletedProcess(command, process.returncode, output, errors)


def _raise_if_failed(done: subprocess.CompletedProcess[str]) -> None:
    if done.returncode and is_download_failure(done.stderr):
        raise DownloadError(last_lines(done.stderr, 1))
    if done.returncode:
        raise BoxError(f"`{' '.join(done.args)}` failed, and it would again:\n{last_lines(done.stderr, 5)}")


def is_download_failure(output: str) -> bool:
    return bool(re.search(r"Failed to fetch|Unable to fetch|Could not (?:resolve|connect)|Temporary failure", output))


def _remove_leftover(policy: Path) -> None:
    """Of an install that was killed."""
    if policy.exists() and policy.read_text() == DENY_ALL:
        policy.unlink()


@contextlib.contextmanager
def _no_service_starts(policy: Path) -> Iterator[None]:
    """Debian starts a service as it installs it; the box runs containerds of its own and wants none on the host."""
    if policy.exists():
        yield
        return
    policy.write_text(DENY_ALL)
    policy.chmod(0o755)
    try:
        yield
    finally:
        policy.unlink(missing_ok=True)


def _disable(unit: str) -> None:
    if shutil.which("systemctl"):
        running = ["--now"] if Path("/run/systemd/system").is_dir() else []
        subprocess.run(["systemctl", "disable", *running, unit], capture_output=True, check=False)
