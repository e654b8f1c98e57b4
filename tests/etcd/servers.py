"""Real etcd servers on loopback, of every version the box builds.

A cluster has an address of its own out of 127.0.0.0/8 and a folder of its own, so that any number of them run side by
side; it is a context manager that ends its processes, waits for them and removes the folder, whatever happened in
between. Should the test run itself be killed, the kernel ends them: each asks for that before it becomes etcd.

Nothing here uses the client under test: readiness is read from etcd's own `/health`.
"""

from __future__ import annotations

import contextlib
import http.client
import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from box.image.images import ETCD_VERSIONS
from box.layout import default_layout
from box.toolchain import builds
from box.toolchain.tools import tool
from tests.etcd.certificates import Authority, IdentityFiles

KNOWN_BAD = "etcd-3.5.1"
VERSIONS = tuple(name.removeprefix("etcd-") for name in ETCD_VERSIONS if name != KNOWN_BAD)
PATIENCE = 60.0
LOG_LINES = 40

# What a version needs beside what all share. Where etcd knows the flags, the disk is spared, and so is the time that
# a hash of a password takes on purpose.
FLAGS: dict[str, tuple[str, ...]] = {
    "3.2": (),
    "3.3": (),
    "3.4": ("--logger=zap", "--log-outputs=stderr", "--bcrypt-cost=4"),
    "3.5": ("--unsafe-no-fsync", "--bcrypt-cost=4"),
    "3.6": ("--unsafe-no-fsync", "--bcrypt-cost=4"),
    "3.7": ("--unsafe-no-fsync", "--bcrypt-cost=4"),
}


class ServerError(AssertionError):
    """A server did not do what it was started for; the text ends with its log."""


def release(version: str) -> str:
    """The full number of a minor version: `3.2.13` of `3.2`."""
    return tool(f"etcd-{version}").version


def program(version: str, name: str) -> Path:
    found = builds.program(default_layout(), f"etcd-{version}", name)
    assert found.exists(), f"{name} {version} is not built: make build"
    return found


def variable(flag: str) -> str:
    """What stands for a flag in the environment; etcd ends when it is given both."""
    return f"ETCD_{flag.partition('=')[0].strip('-').replace('-', '_').upper()}"


def free_ports(address: str) -> Iterator[int]:
    """All different, and none of those that outgoing connections get: a peer's would take it before the server does."""
    first = random.randrange(10_000, 30_000)
    for port in range(first, first + 2_000):
        try:
            socket.create_server((address, port)).close()  # before it is handed out: a server is to have it
        except OSError:
            continue
        yield port


def free_port(address: str) -> int:
    return next(free_ports(address))


@dataclass
class Server:
    """One etcd process and its place on the disk, through any number of starts."""

    name: str
    version: str
    folder: Path
    client: str  # address:port
    peer: str
    metrics: str  # free for a listener, should its variables ask for one
    tls: IdentityFiles | None = None
    operator: IdentityFiles | None = None  # whose certificate asks for health
    extra: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    _process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    @property
    def authority(self) -> str:
        """The name in its certificate."""
        return f"demo-{self.name}.demo.ns.svc"

    @property
    def client_url(self) -> str:
        return f"{'https' if self.tls else 'http'}://{self.client}"

    @property
    def peer_url(self) -> str:
        return f"http://{self.peer}"

    @property
    def initial(self) -> str:
        return f"{self.name}={self.peer_url}"

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def start(self, members: str = "", *, state: str = "new") -> None:
        """Begins with `members` as its first view of the cluster; after that the disk knows better."""
        assert not self.running, f"{self.name} runs already"
        argv = ["setpriv", "--pdeathsig", "KILL", str(program(self.version, "etcd")), *self._flags()]
        argv += [f"--initial-cluster={members or self.initial}", f"--initial-cluster-state={state}"]
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / "log").open("ab") as log:
            environment = {**os.environ, **self.environment}
            self._process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment)

    def _flags(self) -> list[str]:
        flags = [
            f"--name={self.name}",
            f"--data-dir={self.data}",
            f"--listen-client-urls={self.client_url}",
            f"--advertise-client-urls={self.client_url}",
            f"--listen-peer-urls={self.peer_url}",
            f"--initial-advertise-peer-urls={self.peer_url}",
            *(flag for flag in FLAGS[self.version] if variable(flag) not in self.environment),
            *self.extra,
        ]
        if self.tls:
            flags += [
                "--client-cert-auth",
                f"--trusted-ca-file={self.tls.ca}",
                f"--cert-file={self.tls.certificate}",
                f"--key-file={self.tls.key}",
            ]
        return flags

    def freeze(self) -> None:
        """Stops the process without ending it: its connections stay open and nothing answers."""
        self._signal(signal.SIGSTOP)
        wait_until(lambda: set(self._thread_states()) == {"T"})

    def _thread_states(self) -> Iterator[str]:
        """A signal is sent before it is obeyed, by one thread after the other."""
        assert self._process
        for status in Path(f"/proc/{self._process.pid}/task").glob("*/stat"):
            with contextlib.suppress(OSError):
                yield status.read_text().rpartition(")")[2].split()[0]

    def thaw(self) -> None:
        self._signal(signal.SIGCONT)

    def kill(self) -> None:
        """Ends it as a power failure would, and waits for its end."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(PATIENCE)
            self._process = None

    def stop(self) -> None:
        """Ends it as Kubernetes would."""
        self._signal(signal.SIGTERM)
        assert self._process
        self._process.wait(PATIENCE)
        self._process = None

    def _signal(self, number: signal.Signals) -> None:
        assert self._process, f"{self.name} does not run"
        self._process.send_signal(number)

    @property
    def healthy(self) -> bool:
        """What `/health` says: a leader is known and reads go through."""
        if not self.running:
            raise ServerError(f"{self.name} ended by itself\n{self.log()}")
        return self.get("/health") == 200

    def get(self, path: str) -> int:
        """The HTTP status of a path on the client port; 0 without an answer."""
        host, _, port = self.client.rpartition(":")
        if self.tls:
            assert self.operator
            context = self.operator.context()
            connection: http.client.HTTPConnection = http.client.HTTPSConnection(
                host, int(port), timeout=2, context=context
            )
        else:
            connection = http.client.HTTPConnection(host, int(port), timeout=2)
        return status_at(connection, path)

    def wait_healthy(self, *, within: float = PATIENCE) -> None:
        wait_until(lambda: self.healthy, within=within, otherwise=lambda: f"{self.name} is not healthy\n{self.log()}")

    def log(self) -> str:
        """The last lines."""
        file = self.folder / "log"
        lines = file.read_text(errors="replace").splitlines() if file.exists() else []
        return "\n".join(lines[-LOG_LINES:])


Environment = Callable[[Server], Mapping[str, str]]


@dataclass
class Cluster:
    """Servers that know each other; `authority` is None for plain text."""

    version: str
    folder: Path
    address: str
    authority: Authority | None
    extra: tuple[str, ...] = ()
    environment: Environment | None = None
    servers: list[Server] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._ports = free_ports(self.address)

    def __getitem__(self, index: int) -> Server:
        return self.servers[index]

    def prepare(self) -> Server:
        """One more server, which does not run yet."""
        name = f"m{len(self.servers)}"
        server = Server(
            name,
            self.version,
            self.folder / name,
            client=f"{self.address}:{next(self._ports)}",
            peer=f"{self.address}:{next(self._ports)}",
            metrics=f"{self.address}:{next(self._ports)}",
            extra=self.extra,
        )
        if self.environment:
            server.environment = self.environment(server)
        if self.authority:
            server.tls = IdentityFiles(server.folder / "tls")
            server.tls.write(self.authority.server(server.authority))
            server.operator = IdentityFiles(self.folder / "operator")
            server.operator.write(self.authority.client())
        self.servers.append(server)
        return server

    def start(self) -> None:
        members = ",".join(server.initial for server in self.servers)
        for server in self.servers:
            server.start(members)

    def wait_healthy(self) -> None:
        for server in self.servers:
            server.wait_healthy()

    def join(self, server: Server) -> None:
        """Starts a server that has just been added to the members."""
        server.start(",".join(each.initial for each in self.servers), state="existing")

    def end(self) -> None:
        for server in self.servers:
            server.kill()
        shutil.rmtree(self.folder)

    def logs(self) -> str:
        return "\n".join(f"--- {server.name} {self.version}\n{server.log()}" for server in self.servers)


@contextmanager
def cluster(
    version: str,
    *,
    size: int = 1,
    tls: bool = False,
    wait: bool = True,
    extra: tuple[str, ...] = (),
    environment: Environment | None = None,
) -> Iterator[Cluster]:
    """A started cluster, all of whose members answer unless nobody is to wait for that."""
    folder = Path(tempfile.mkdtemp(prefix=f"etcd-{version}-"))
    address = f"127.{random.randint(1, 254)}.{random.randint(0, 254)}.{random.randint(1, 254)}"
    made = Cluster(version, folder, address, Authority() if tls else None, extra, environment)
    try:
        for _ in range(size):
            made.prepare()
        made.start()
        if wait:
            made.wait_healthy()
        yield made
    finally:
        made.end()


def wait_until(
    claim: Callable[[], bool], *, within: float = PATIENCE, otherwise: Callable[[], str] = lambda: "it did not happen"
) -> None:
    deadline = time.monotonic() + within
    while not claim():
        if time.monotonic() > deadline:
            raise ServerError(f"After {within:.0f} s: {otherwise()}")
        time.sleep(0.02)


def status_at(connection: http.client.HTTPConnection, path: str) -> int:
    """The HTTP status; 0 without an answer."""
    try:
        connection.request("GET", path)
        return connection.getresponse().status
    except (OSError, http.client.HTTPException):
        return 0
    finally:
        connection.close()
