"""What a box was asked to be; kept beside its data, so that a later command finds the same box."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from box.layout import Layout, workers

KUBERNETES_VERSIONS = ("1.36", "1.37")
KUBERNETES_TOLERATION = 300  # seconds, the default of Kubernetes itself


@dataclass(frozen=True)
class Settings:
    """The choices of `box up`, and where it found its programs: they stay the same while the box is up."""

    nodes: int = 3
    kubernetes: str = KUBERNETES_VERSIONS[0]
    tolerate: int = KUBERNETES_TOLERATION
    relay_port: int = 0
    boot: str = ""
    started: float = 0.0
    kubernetes_folder: str = ""
    etcd_program: str = ""

    @property
    def workers(self) -> tuple[str, ...]:
        return workers(self.nodes)

    @property
    def tool(self) -> str:
        return f"kubernetes-{self.kubernetes}"


def boot_id() -> str:
    """Changes with every start of the machine."""
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def load(layout: Layout) -> Settings | None:
    try:
        return Settings(**json.loads(layout.settings.read_text()))
    except (FileNotFoundError, ValueError, TypeError):
        return None


def save(layout: Layout, settings: Settings) -> None:
    layout.state.mkdir(parents=True, exist_ok=True)
    draft = layout.settings.with_suffix(".draft")
    draft.write_text(json.dumps(asdict(settings), indent=1))
    draft.rename(layout.settings)
