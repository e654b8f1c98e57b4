"""Where a box keeps its files and which addresses it uses.

Builds and images are shared by all boxes of a user; each box has a folder of its own below `boxes/`. All of it is
below the user's cache folder: a box holds test data only, and deleting the cache is never a loss.

The addresses are those of RFC 2544 benchmarks. They exist only inside the room's network namespace, so they clash
with nothing on the host and two boxes may use them at once.
"""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent

NODE_RANGE = "198.18.0.0/24"
SERVICE_RANGE = "198.18.16.0/20"
POD_RANGE = "198.19.0.0/16"

SWITCH_ADDRESS = "198.18.0.1"  # the room itself: relay, provisioner
STORAGE_ADDRESS = "198.18.0.2"  # S3 and Azure servers, outside the cluster as they are in real life
API_SERVICE_ADDRESS = "198.18.16.1"
DNS_SERVICE_ADDRESS = "198.18.16.10"
API_PORT = 6443
CLUSTER_DOMAIN = "cluster.local"

CONTROL_PLANE = "cp"
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,30}")
MAX_WORKERS = 9


class BoxError(Exception):
    """Something a person can read and act on; the program prints it without a stack trace."""


@dataclass(frozen=True)
class Layout:
    """The files of one box."""

    home: Path
    name: str = "box"

    def __post_init__(self) -> None:
        # It is part of paths that are removed, so it must never lead out of the folder.
        if not _NAME.fullmatch(self.name):
            raise BoxError(f"'{self.name}' cannot be a box's name: up to 31 of a-z, 0-9 and -, not beginning with -")

    def command(self, words: str) -> str:
        """How a person says it for this box."""
        return f"box {words}" if self.name == "box" else f"box --name {self.name} {words}"

    @property
    def tools(self) -> Path:
        return self.home / "tools"

    @property
    def images(self) -> Path:
        return self.home / "images"

    @property
    def image_store(self) -> Path:
        """A containerd store with every image unpacked; nodes start from hard-linked copies of it."""
        return self.home / "store"

    @property
    def state(self) -> Path:
        return self.home / "boxes" / self.name

    @property
    def settings(self) -> Path:
        return self.state / "settings.json"

    @property
    def control(self) -> Path:
        return self.state / "control.sock"

    @property
    def kubeconfig(self) -> Path:
        """For programs on the host: through the relay on loopback."""
        return self.state / "kubeconfig"

    @property
    def inner_kubeconfig(self) -> Path:
        """For programs inside the room's network."""
        return self.pki / "admin.kubeconfig"

    @property
    def pki(self) -> Path:
        return self.state / "pki"

    @property
    def logs(self) -> Path:
        return self.state / "logs"

    def node(self, name: str) -> Path:
        """The disk of a node: what survives its power failure."""
        return self.state / "nodes" / name

    @property
    def cgroup(self) -> str:
        """Two users may have boxes of the same name: the folder tells them apart."""
        return f"/box-{self.name}-{hashlib.sha256(bytes(self.home)).hexdigest()[:8]}"


def default_layout() -> Layout:
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    home = Path(os.environ.get("BOX_HOME") or cache / "etcd-operator")
    return Layout(home=home.resolve(), name=os.environ.get("BOX_NAME") or "box")


def workers(count: int) -> tuple[str, ...]:
    return tuple(f"w{i}" for i in range(1, count + 1))


def node_address(name: str) -> str:
    return "198.18.0.10" if name == CONTROL_PLANE else f"198.18.0.{10 + int(name[1:])}"


def pod_range(name: str) -> str:
    """The addresses of the pods on a worker."""
    return f"198.19.{int(name[1:])}.0/24"
