"""How the tests drive a box: as its users do, by its commands, kubectl and the API."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any, TypeVar

from box import lifecycle
from box.kube.api import Api
from box.layout import REPOSITORY, Layout, default_layout

Object = dict[str, Any]
T = TypeVar("T")

PATIENCE = 120.0
_CLONE_NEWNET = 0x40000000


class CommandFailedError(AssertionError):
    """A command ended with an error where none was expected."""


class Box:
    """One box by its name."""

    def __init__(self, name: str) -> None:
        self.layout = Layout(default_layout().home, name)

    def command(self, *arguments: str, timeout: float = 300.0, home: str = "") -> subprocess.CompletedProcess[str]:
        """Runs `box …` and returns how it ended."""
        environment = {**os.environ, "BOX_NAME": self.layout.name, "BOX_HOME": home or str(self.layout.home)}
        argv = [sys.executable, str(REPOSITORY / "box/box"), *arguments]
        return subprocess.run(argv, env=environment, capture_output=True, text=True, timeout=timeout, check=False)

    def __call__(self, *arguments: str, timeout: float = 300.0) -> str:
        """Runs `box …`, which must succeed, and returns what it printed."""
        return _output(self.command(*arguments, timeout=timeout))

    def kubectl(self, *arguments: str, given: str | None = None, timeout: float = PATIENCE) -> str:
        argv = [sys.executable, str(REPOSITORY / "box/box"), "--name", self.layout.name, "kubectl", *arguments]
        return _output(subprocess.run(argv, input=given, capture_output=True, text=True, timeout=timeout, check=False))

    def apply(self, *objects: Object) -> None:
        self.kubectl("apply", "-f", "-", given=json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))

    def get(self, kind: str, name: str, namespace: str) -> Object:
        found: Object = json.loads(self.kubectl("get", kind, name, "-n", namespace, "-o", "json"))
        return found

    def exec(self, namespace: str, pod: str, *argv: str) -> str:
        return self.kubectl("exec", "-n", namespace, pod, "--", *argv)

    @cached_property
    def api(self) -> Api:
        return Api.from_kubeconfig(self.layout.kubeconfig)

    @contextmanager
    def namespace(self, name: str) -> Iterator[str]:
        """A namespace for one test, removed with everything in it."""
        self.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        try:
            # Pods are refused until the controller-manager has made the account that they run as.
            eventually(lambda: self.kubectl("get", "serviceaccount", "default", "-n", name), within=60)
            yield name
        finally:
            self.kubectl("delete", "namespace", name, "--wait=false")
            self.kubectl("delete", "pods", "--all", "-n", name, "--grace-period=0", "--force", "--ignore-not-found")

    def inside(self, action: Callable[[], T]) -> T:
        """Does something in the box's network, where pods, services and the object storage are reached."""
        result: list[T] = []
        problem: list[BaseException] = []
        pid = lifecycle.room_pid(self.layout)
        assert pid is not None, "the box is down"

        def work() -> None:
            try:
                _join_network(pid)
                result.append(action())
            except BaseException as error:
                problem.append(error)

        # A network namespace belongs to a thread: this one has it, and so do those it starts.
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        if problem:
            raise problem[0]
        return result[0]


def _join_network(pid: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    descriptor = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY)
    try:
        if libc.setns(descriptor, _CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), "setns")
    finally:
        os.close(descriptor)


def _output(done: subprocess.CompletedProcess[str]) -> str:
    if done.returncode:
        words = " ".join(map(str, done.args[1:]))
        raise CommandFailedError(f"`{words}` ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def eventually(claim: Callable[[], T], *, within: float = PATIENCE, pause: float = 0.2) -> T:
    """Waits until the claim holds and returns it; the last reason why not is what the test fails with."""
    deadline = time.monotonic() + within
    while True:
        try:
            if held := claim():
                return held
            reason: Exception = AssertionError(f"still {held!r} after {within:.0f} s")
        except (AssertionError, KeyError, OSError) as error:
            reason = error
        if time.monotonic() > deadline:
            raise reason
        time.sleep(pause)
