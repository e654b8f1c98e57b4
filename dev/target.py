"""Where the demo runs: a box of its own, or a cluster that somebody already has.

The second is not ours: it is named to the person before anything is sent to it, and what will be done there is said.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from box.layout import REPOSITORY, default_layout

NAMESPACE = "etcd-operator-demo"
MARK = {"app.kubernetes.io/managed-by": "etcd-operator-demo"}
BOX_NAME = "demo"
BOX_PROGRAM = REPOSITORY / "box" / "box"


class DemoError(Exception):
    """One sentence that says what went wrong and what to do."""


@dataclass(frozen=True)
class Target:
    """A cluster and the kubectl that speaks to it, and the namespace, if it is not the one at hand."""

    kubectl: tuple[str, ...]
    variables: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    namespace: str = ""

    def within(self, namespace: str) -> Target:
        return replace(self, namespace=namespace)

    def spelt(self, *arguments: str) -> str:
        """A command as the person would type it."""
        return shlex.join(("kubectl", *self._namespaced(arguments)))

    def show(self, *arguments: str) -> None:
        """Run kubectl in front of the person, who can type the same afterwards."""
        print(f"$ {self.spelt(*arguments)}", flush=True)
        if self._run(arguments).returncode:
            raise DemoError(f"`{self.spelt(*arguments)}` failed; its own words are above.")

    def ask(self, *arguments: str) -> str | None:
        """What kubectl answers, `None` when it fails."""
        done = self._run(arguments, capture=True)
        return None if done.returncode else done.stdout.strip()

    def apply(self, manifest: Mapping[str, object] | str) -> None:
        text = manifest if isinstance(manifest, str) else json.dumps(manifest)
        if self._run(("apply", "-f", "-"), given=text).returncode:
            raise DemoError("The cluster did not take the demo's objects; its own words are above.")

    def _namespaced(self, arguments: tuple[str, ...]) -> tuple[str, ...]:
        return ("-n", self.namespace, *arguments) if self.namespace else arguments

    def _run(
        self, arguments: tuple[str, ...], *, capture: bool = False, given: str = ""
    ) -> subprocess.CompletedProcess[str]:
        command = (*self.kubectl, *self._namespaced(arguments))
        return subprocess.run(
            command,
            input=given,
            text=True,
            check=False,
            capture_output=capture,
            env=dict(self.variables),
            cwd=REPOSITORY,  # its manifests are named as a reader there would
        )


def script(target: Target, path: str) -> None:
    """Run a script of the repository in front of the person; it calls the `kubectl` that is in the PATH."""
    print(f"$ {path}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "kubectl"
        program.write_text(f'#!/bin/sh\nexec {shlex.join(target.kubectl)} "$@"\n')
        program.chmod(0o755)
        variables = {**target.variables, "PATH": f"{folder}:{target.variables['PATH']}"}
        if subprocess.run((str(REPOSITORY / path),), env=variables, cwd=REPOSITORY, check=False).returncode:
            raise DemoError(f"`{path}` failed; its own words are above.")


def box_variables() -> dict[str, str]:
    return {**os.environ, "BOX_NAME": BOX_NAME}


def box(*arguments: str) -> None:
    """Run a command of the box in front of the person."""
    if subprocess.run((sys.executable, str(BOX_PROGRAM), *arguments), env=box_variables(), check=False).returncode:
        raise DemoError(f"`box/box {' '.join(arguments)}` failed; its own words are above.")


def box_target() -> Target:
    return Target((sys.executable, str(BOX_PROGRAM), "kubectl"), box_variables())


def own_cluster(kubeconfig: Path) -> Target:
    if not kubeconfig.is_file():
        raise DemoError(f"There is no file {kubeconfig}: KUBECONFIG must name the kubeconfig of your cluster.")
    built = sorted(default_layout().tools.glob("kubernetes-*/*/kubectl"))
    program = shutil.which("kubectl") or (str(built[-1]) if built else None)
    if program is None:
        raise DemoError("There is no kubectl on the PATH: install it, or run `make build`, which makes one.")
    return Target((program, "--kubeconfig", str(kubeconfig)))


def consent(target: Target, *, to: str) -> None:
    """Name the cluster and wait for a typed yes."""
    context = target.ask("config", "current-context")
    server = target.ask("config", "view", "--minify", "-o", "jsonpath={.clusters[0].cluster.server}")
    if not context or not server:
        raise DemoError("The kubeconfig names no current context: choose one with `kubectl config use-context`.")
    print(f"context {context}, server {server}\nThis will {to}.")
    if os.environ.get("DEMO_YES") == "1":
        print("DEMO_YES=1 is set: going on without asking.")
        return
    if not sys.stdin.isatty():
        raise DemoError("Nobody is there to ask: nothing was touched. DEMO_YES=1 means yes.")
    if input("Type yes to go on: ").strip() != "yes":
        raise DemoError("Not a yes: nothing was touched.")


def namespace() -> dict[str, object]:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE, "labels": MARK}}


def must_be_ours(target: Target) -> bool:
    """Whether the demo's namespace exists; one of that name that somebody else made is not touched."""
    found = target.ask("get", "namespace", NAMESPACE, "--ignore-not-found", "-o", "json")
    if found is None:
        raise DemoError("The cluster does not answer; `kubectl get namespaces` with this kubeconfig says why.")
    if not found:
        return False
    labels = json.loads(found)["metadata"].get("labels", {})
    if not MARK.items() <= labels.items():
        raise DemoError(f"The namespace {NAMESPACE} exists and was not made by this demo: nothing was touched.")
    return True
