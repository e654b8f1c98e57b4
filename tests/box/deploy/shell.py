"""A reader's shell: the box's kubectl is in the PATH, and the namespace at hand is the test's own."""

from __future__ import annotations

import json
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.box.driving import Box, CommandFailedError

BLOCK = re.compile(r"^```sh\n(?P<text>.*?)^```", re.MULTILINE | re.DOTALL)
EXPORT = re.compile(r"^export (?P<name>\w+)=(?P<value>.*)$", re.MULTILINE)


def blocks(page: Path, *, heading: str = "") -> list[str]:
    """What a page, or one section of it, shows to be typed, each block as it stands."""
    text = page.read_text()
    if heading:
        _, _, text = text.partition(f"\n## {heading}\n")
        text, _, _ = text.partition("\n## ")
    return [found["text"] for found in BLOCK.finditer(text)]


@dataclass(frozen=True)
class Shell:
    folder: Path  # where the reader stands
    environment: dict[str, str]

    def run(self, text: str, **variables: str) -> subprocess.CompletedProcess[str]:
        argv = ["bash", "-o", "errexit", "-o", "nounset", "-o", "pipefail", "-c", text]
        return subprocess.run(
            argv,
            cwd=self.folder,
            env={**self.environment, **variables},
            capture_output=True,
            text=True,
            timeout=280,
            check=False,
        )

    def __call__(self, text: str, **variables: str) -> str:
        done = self.run(text, **variables)
        if done.returncode:
            raise CommandFailedError(f"ended with {done.returncode}:\n{text}\n{done.stdout}{done.stderr}")
        return done.stdout


def shell(box: Box, *, folder: Path, namespace: str, scratch: Path) -> Shell:
    told = {found["name"]: found["value"] for found in EXPORT.finditer(box("env"))}
    config = scratch / "kubeconfig"
    config.write_text(json.dumps(in_namespace(box, namespace)))
    config.chmod(0o600)
    path = told["PATH"].replace("$PATH", os.environ["PATH"]).strip("'\"")
    return Shell(folder, {**os.environ, "PATH": path, "KUBECONFIG": str(config)})


def in_namespace(box: Box, namespace: str) -> dict[str, object]:
    config: dict[str, object] = json.loads(box.kubectl("config", "view", "--raw", "-o", "json"))
    contexts = config["contexts"]
    assert isinstance(contexts, list)
    for context in contexts:
        context["context"]["namespace"] = namespace
    return config
