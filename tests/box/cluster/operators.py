"""Operators at work on the box: the one that all tests share, installed as its users do, and processes of a test's own.

The shared one comes from `deploy/install.yaml`: two pods, one of which leads, for the clusters of all namespaces that
ask for it. A process of a test's own looks after one namespace, and can be stopped and started at any moment: it runs
beside the cluster with a kubeconfig, in the box's network.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from box.layout import REPOSITORY
from tests.box.driving import Box, Object, eventually

HOME = "etcd-operator"
INSTALLATION = str(REPOSITORY / "deploy" / "install.yaml")
IMAGE = "etcd-operator:dev"
LEASE = "etcd-operator"


class Operator:
    """The shared one."""

    def __init__(self, box: Box) -> None:
        self._box = box

    def pods(self) -> dict[str, Object]:
        found = self._box.api.list(f"/api/v1/namespaces/{HOME}/pods", labels="name=etcd-operator")
        return {pod["metadata"]["name"]: pod for pod in found if "deletionTimestamp" not in pod["metadata"]}

    def leader(self) -> str:
        """The name of the pod that leads."""
        lease = self._box.api.get(f"/apis/coordination.k8s.io/v1/namespaces/{HOME}/leases/{LEASE}")
        holder: str = lease["spec"].get("holderIdentity") or ""
        return next((name for name in self.pods() if holder.startswith(name)), "")

    def log(self, *, lines: int = 200, about: str = "") -> str:
        """The last lines of all pods, or those of them that are about one namespace."""
        said = []
        for name in sorted(self.pods()):
            try:
                text = self._box.kubectl("logs", "-n", HOME, name, "--tail=4000")
            except AssertionError as error:
                text = str(error)
            chosen = [line for line in text.splitlines() if about in line or '"level":"error"' in line]
            said += [f"{name}:", *map(brief, chosen[-lines:])]
        return "\n".join(said)


def install(box: Box) -> Operator:
    # Refused while the namespace of an earlier installation is still going away.
    eventually(lambda: box.kubectl("apply", "--server-side", "--force-conflicts", "-f", INSTALLATION), pause=2)
    box.kubectl("rollout", "restart", "deployment/etcd-operator", "-n", HOME)  # the image may be newer than the pods
    box.kubectl("rollout", "status", "deployment/etcd-operator", "-n", HOME, "--timeout=120s")
    operator = Operator(box)
    eventually(operator.leader, within=60)
    return operator


def uninstall(box: Box) -> None:
    box.kubectl("delete", "--ignore-not-found", "-f", INSTALLATION, timeout=180)


class Process:
    """An operator of one namespace, as a process on this machine."""

    def __init__(self, box: Box, namespace: str, *, log: Path, level: str = "info") -> None:
        self._box = box
        self._namespace = namespace
        self._log = log
        self._level = level
        self._running: subprocess.Popen[str] | None = None

    def start(self) -> None:
        argv = [sys.executable, "-c", "from etcd_operator.cli.operator import main; main()"]
        argv += [f"--kubeconfig={self._box.layout.inner_kubeconfig}", f"--namespace={self._namespace}"]
        argv += [f"--operator-image={IMAGE}", "--listen-addr=127.0.0.1:0"]
        argv += [f"--log-level={self._level}", "--log-format=json"]
        environment = {**os.environ, "PYTHONPATH": str(REPOSITORY / "src"), "PYTHONUNBUFFERED": "1"}
        self._running = self._box.inside(
            lambda: subprocess.Popen(argv, cwd=REPOSITORY, env=environment, stderr=subprocess.PIPE, text=True)
        )

    def lines(self) -> Iterator[dict[str, Any]]:
        """What it logs, as it does, until it ends."""
        assert self._running
        assert self._running.stderr
        with self._log.open("a") as kept:
            for line in self._running.stderr:
                kept.write(line)
                kept.flush()
                yield json.loads(line) if line.startswith("{") else {"message": line}

    def kill(self) -> None:
        """As a power failure would. Nobody waits for a lease whose holder is known to be dead."""
        self._end(signal.SIGKILL)
        self._box.kubectl("delete", "lease", LEASE, "-n", self._namespace, "--ignore-not-found")

    def stop(self) -> int:
        """Politely; the exit code."""
        return self._end(signal.SIGTERM)

    def _end(self, how: signal.Signals) -> int:
        process, self._running = self._running, None
        if process is None:
            return 0
        process.send_signal(how)
        code = process.wait(timeout=60)
        if process.stderr:
            process.stderr.close()
        return code

    def said(self) -> str:
        return (
            "\n".join(brief(line) for line in self._log.read_text().splitlines()[-200:]) if self._log.exists() else ""
        )


@contextmanager
def process(box: Box, namespace: str, *, log: Path, level: str = "info") -> Iterator[Process]:
    made = Process(box, namespace, log=log, level=level)
    try:
        yield made
    finally:
        made.kill()


def brief(line: str) -> str:
    """A line of the log for the eye."""
    try:
        said = json.loads(line)
    except ValueError:
        return line
    step = f"{said['step']}: " if said.get("step") else ""
    error = f" [{said['error']}]" if said.get("error") else ""
    trace = f"\n{said['traceback']}" if said.get("traceback") else ""
    return f"{said.get('time', '')[11:23]} {said.get('name', ''):<12} {step}{said.get('message', '')}{error}{trace}"
