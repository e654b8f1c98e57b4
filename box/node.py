"""The first process of a node: mounts its file system, keeps its programs running, and does what the room asks.

It talks with the room by JSON lines on its standard input and output. When it ends, the kernel kills everything in
its PID namespace, which is what a power failure does to a machine. One thread, one loop: as PID 1 it also collects
the exit codes of every orphan, and a second waiter would steal them.
"""

from __future__ import annotations

import contextlib
import heapq
import itertools
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from box import cgroups, nodefs
from box.kube.components import Service
from box.layout import BoxError, Layout
from box.network import switch
from box.volume import volumes

_RESTART_AFTER = 1.0
_SHUTDOWN_PATIENCE = 6.0
_OUTPUT_LIMIT = 8 << 20  # of a command; as JSON it may be six times as long


@dataclass
class Running:
    """A service and what became of it."""

    service: Service
    process: subprocess.Popen[bytes] | None = None
    paused: bool = False
    restarts: int = 0


class Init:
    """The loop."""

    def __init__(self, layout: Layout, node: str) -> None:
        self.layout, self.node = layout, node
        self.services: dict[str, Running] = {}
        self._children: dict[int, tuple[subprocess.Popen[bytes], Callable[[int], None]]] = {}
        self._timers: list[tuple[float, int, Callable[[], None]]] = []
        self._order = itertools.count()
        self._selector = selectors.DefaultSelector()
        self._input = b""
        self._ending: float | None = None

    def run(self) -> int:
        waker, wakened = socket.socketpair()
        for end in (waker, wakened):
            end.setblocking(False)
        signal.set_wakeup_fd(waker.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self._selector.register(wakened, selectors.EVENT_READ)
        self._selector.register(0, selectors.EVENT_READ)
        while not self._ended():
            for key, _ in self._selector.select(self._next_timer()):
                if key.fileobj is wakened:
                    with contextlib.suppress(BlockingIOError):
                        wakened.recv(4096)
                elif not self._read_requests():
                    return 0  # the room is gone
            self._collect()
            self._fire_timers()
        return 0

    # requests

    def _read_requests(self) -> bool:
        data = os.read(0, 1 << 16)
        *lines, self._input = (self._input + data).split(b"\n")
        for line in lines:
            self._handle(json.loads(line))
        return bool(data)

    def _handle(self, message: dict[str, Any]) -> None:
        def reply(**answer: Any) -> None:
            send({"id": message["id"], **answer})

        try:
            match message["op"]:
                case "boot":
                    self._boot([Service(**entry) for entry in message["services"]])
                    reply(result=None)
                case "run":
                    self._run(message["argv"], message["timeout"], reply)
                case "service":
                    self._service(message["name"], message["action"])
                    reply(result=None)
                case "services":
                    reply(result=self._report())
                case "stop":
                    self._stop()
                    reply(result=None)
                case unknown:
                    reply(error=f"a node cannot '{unknown}'")
        except (BoxError, OSError) as error:
            reply(error=str(error))

    def _boot(self, services: list[Service]) -> None:
        nodefs.mount(self.layout, self.node)
        switch.configure_node(self.node)
        socket.sethostname(self.node)
        for problem in volumes.remount(Path("/var/box/volumes")):
            print(problem, file=sys.stderr, flush=True)
        for service in services:
            self.services[service.name] = running = Running(service)
            self._start(running)

    def _run(self, argv: list[str], timeout: float, reply: Callable[..., None]) -> None:
        output = tempfile.TemporaryFile()  # noqa: SIM115 - closed when the command has ended

        begun = time.monotonic()

        def ended(code: int) -> None:
            output.seek(0)
            text = output.read(_OUTPUT_LIMIT).decode(errors="replace")
            output.close()
            if code == -signal.SIGKILL and time.monotonic() - begun >= timeout:
                reply(error=f"{argv[0]} did not end within {timeout:.0f} s")
            else:
                reply(result={"code": code, "output": text})

        process = self._spawn(argv, output, ended)
        self._later(timeout, lambda: self._signal(process, signal.SIGKILL))

    # services

    def _service(self, name: str, action: str) -> None:
        running = self.services.get(name)
        if running is None:
            raise BoxError(f"{self.node} has no '{name}', it has: {', '.join(self.services)}")
        if action == "restart":
            self._restart(running)
        elif action in ("pause", "resume"):
            if running.process is None:
                raise BoxError(f"{name} on {self.node} is not running")
            running.paused = action == "pause"
            self._signal(running.process, signal.SIGSTOP if running.paused else signal.SIGCONT)
        else:
            raise BoxError(f"a service cannot be told to '{action}'")

    def _start(self, running: Running) -> None:
        if running.process is not None or self._ending:
            return
        if not reachable(running.service.after):
            self._later(0.05, lambda: self._start(running))
            return
        log = (self.layout.logs / self.node / f"{running.service.name}.log").open("ab")

        def ended(code: int) -> None:
            log.write(f"--- ended with code {code}\n".encode())
            log.close()
            running.process, running.paused = None, False
            if not self._ending:
                running.restarts += 1
                self._later(_RESTART_AFTER, lambda: self._start(running))

        environment = {**os.environ, **running.service.environment}
        try:
            running.process = self._spawn(list(running.service.argv), log, ended, environment=environment)
        except OSError as error:  # it may be there again later, and the node must not end for it
            log.write(f"--- cannot be started: {error}\n".encode())
            log.close()
            self._later(5.0, lambda: self._start(running))

    def _restart(self, running: Running) -> None:
        process = running.process
        self._signal(process, signal.SIGTERM)
        self._signal(process, signal.SIGCONT)
        self._later(3.0, lambda: self._signal(process, signal.SIGKILL))
        if process is None:
            self._start(running)

    def _report(self) -> dict[str, Any]:
        def state(running: Running) -> str:
            if running.process is None:
                return "waiting"
            return "paused" if running.paused else "running"

        return {name: {"state": state(entry), "restarts": entry.restarts} for name, entry in self.services.items()}

    # ending

    def _stop(self) -> None:
        """A clean shutdown: everything is asked to end, as an operating system does it."""
        self._ending = time.monotonic() + _SHUTDOWN_PATIENCE
        for running in self.services.values():
            self._signal(running.process, signal.SIGCONT)
        kubelet = self.services.get("kubelet")
        if kubelet and kubelet.process:
            kubelet.process.send_signal(signal.SIGKILL)  # or it would start what is ending again
        os.kill(-1, signal.SIGTERM)
        self._later(_SHUTDOWN_PATIENCE, lambda: None)

    def _ended(self) -> bool:
        if self._ending is None:
            return False
        others = [entry for entry in os.listdir("/proc") if entry.isdigit() and entry != "1"]
        return not others or time.monotonic() >= self._ending

    # processes and time

    def _spawn(
        self,
        argv: list[str],
        output: IO[bytes],
        ended: Callable[[int], None],
        *,
        environment: dict[str, str] | None = None,
    ) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=environment,
            start_new_session=True,
            restore_signals=True,
        )
        self._children[process.pid] = (process, ended)
        return process

    def _signal(self, process: subprocess.Popen[bytes] | None, number: signal.Signals) -> None:
        if process is not None and self._children.get(process.pid, (None,))[0] is process:
            os.kill(process.pid, number)

    def _collect(self) -> None:
        with contextlib.suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if not pid:
                    return
                if pid in self._children:
                    process, ended = self._children.pop(pid)
                    process.returncode = os.waitstatus_to_exitcode(status)
                    ended(process.returncode)

    def _later(self, seconds: float, action: Callable[[], None]) -> None:
        heapq.heappush(self._timers, (time.monotonic() + seconds, next(self._order), action))

    def _next_timer(self) -> float | None:
        return max(0.0, self._timers[0][0] - time.monotonic()) if self._timers else None

    def _fire_timers(self) -> None:
        while self._timers and self._timers[0][0] <= time.monotonic():
            heapq.heappop(self._timers)[2]()


def reachable(address: str) -> bool:
    """Whether `unix:PATH` or `tcp:HOST:PORT` takes connections, or an https address answers with 200."""
    if not address:
        return True
    if address.startswith("https:"):
        return _says_yes(address)
    kind, _, place = address.partition(":")
    family = socket.AF_UNIX if kind == "unix" else socket.AF_INET
    host, _, port = place.rpartition(":")
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.settimeout(0.5)
        try:
            probe.connect(place if kind == "unix" else (host, int(port)))
        except OSError:
            return False
    return True


def _says_yes(address: str) -> bool:
    import ssl  # noqa: PLC0415 - 6 MB that only the control plane's node needs
    from urllib.request import urlopen  # noqa: PLC0415

    trusting = ssl.create_default_context()
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE  # its own loopback
    try:
        with urlopen(address, timeout=2.0, context=trusting) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def send(message: dict[str, Any]) -> None:
    rest = memoryview(json.dumps(message).encode() + b"\n")
    while rest:  # a signal may end a write in the middle
        rest = rest[os.write(1, rest) :]


def main(arguments: list[str]) -> int:
    home, name, node = arguments
    layout = Layout(Path(home), name)
    cgroups.join(f"{layout.cgroup}/{node}/sys")
    # /proc is still the room's, and so is the number it knows this process by.
    send({"pid": int(os.readlink("/proc/self"))})
    return Init(layout, node).run()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
