"""Bringing a box up and taking it down.

`up` may be interrupted anywhere: the room goes on by itself, and the next `up` waits for what is still missing.
`down` kills the room, with which everything inside ends, and then removes what lives outside of it: the cgroups.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from box import cgroups, control, preflight, settings
from box.build import builds, debian
from box.image import image_store, images
from box.kube import cluster_dns, pki
from box.kube.api import Api, ApiError
from box.layout import REPOSITORY, BoxError, Layout
from box.progress import Say
from box.settings import Settings
from box.storage import objectstore
from box.volume import volumes

_PATIENCE = 120.0
_NAMESPACES = ("--net", "--mount", "--pid", "--fork", "--kill-child", "--propagation", "private")


def up(layout: Layout, asked: dict[str, Any], *, fresh: bool, say: Say) -> None:
    """Returns when all nodes and the name service are ready; `asked` holds those settings that were given."""
    wanted = Settings(**asked)
    begun = time.monotonic()
    if not running(layout):
        preflight.check(layout)
    with exclusive(layout):
        if running(layout) and not fresh:
            chosen = _same(layout, asked)
        else:
            set_up(layout, wanted.kubernetes, say=say)
            begun = time.monotonic()  # what was installed and built just now is told apart
            _clean(layout)
            chosen = _start(layout, wanted, fresh=fresh, say=say)
        wait_until_ready(layout, chosen, say=lambda text: say(f"{time.monotonic() - begun:5.1f} s  {text}"))


def set_up(layout: Layout, kubernetes: str, *, say: Say) -> None:
    """Installs and builds whatever is missing to start a box."""
    if debian.missing():
        debian.install(say=say)
        preflight.check(layout)  # once more, with the programs it needs to look at the kernel
    builds.ensure(layout, [f"kubernetes-{kubernetes}", "etcd-3.6"], say=say)
    image_store.ensure_images(layout, images.ESSENTIAL, say=say)


def down(layout: Layout, *, purge: bool, say: Say) -> None:
    begun = time.monotonic()
    preflight.check_root()
    existed = room_pid(layout) is not None
    with exclusive(layout):
        _clean(layout)
    if purge:
        _purge(layout, say=say)
    left = cgroups.processes(layout.cgroup)
    if left:
        raise BoxError(f"processes {sorted(left)} of the box are still there")
    what = "the box is down" if existed else "the box was not running"
    took = f"{time.monotonic() - begun:.1f} s"
    say(f"{what}, nothing of it is left: no process, mount, namespace, cgroup or route ({took})")


def running(layout: Layout) -> bool:
    return room_pid(layout) is not None and control.answers(layout)


def room_pid(layout: Layout) -> int | None:
    """The room's first process as the host numbers it, if it is alive and really is the room."""
    try:
        pid = int((layout.state / "room.pid").read_text())
        command = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except (OSError, ValueError):
        return None
    ours = [b"box.room", str(layout.home).encode(), layout.name.encode()]
    return pid if all(part in command for part in ours) else None


def wait_until_ready(layout: Layout, chosen: Settings, *, say: Say) -> None:
    api = Api.from_kubeconfig(layout.kubeconfig)
    _until(layout, "the API server", api.ready)
    say("API server ready")
    for thing in _cluster_objects(chosen):
        api.apply(thing)
    _forget_other_nodes(api, chosen)
    since = chosen.started
    _until(layout, "the nodes", lambda: _ready_nodes(api, since) >= set(chosen.workers))
    say(f"{len(chosen.workers)} node{'s' if chosen.nodes > 1 else ''} ready")
    _until(layout, "the name service", lambda: _dns_ready(api) and control.call(layout, "dns"))
    say("DNS ready")


@contextlib.contextmanager
def exclusive(layout: Layout) -> Iterator[None]:
    """One `up` or `down` at a time for a box."""
    layout.state.mkdir(parents=True, exist_ok=True)
    with (layout.state / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BoxError(f"another command is just bringing the box '{layout.name}' up or down") from None
        yield


# starting


def _same(layout: Layout, asked: dict[str, Any]) -> Settings:
    chosen = settings.load(layout)
    if chosen is None:
        raise BoxError(f"the box runs, but {layout.settings} cannot be read. Take it down first: box down")
    for name, value in asked.items():
        if getattr(chosen, name) != value:
            raise BoxError(
                f"the box is up with --{name} {getattr(chosen, name)}, not {value}. To change it: box down, then box up"
            )
    return chosen


def _start(layout: Layout, wanted: Settings, *, fresh: bool, say: Say) -> Settings:
    before = settings.load(layout)
    if before and not fresh:
        fresh = _is_lost(before, wanted, say)
    if fresh or before is None:
        _drop_data(layout)
    listening = _listen(before.relay_port if before else 0)
    port = listening.getsockname()[1]
    chosen = replace(wanted, relay_port=port, boot=settings.boot_id(), started=time.time())
    settings.save(layout, chosen)
    pki.create(layout, chosen.workers, relay_port=chosen.relay_port)
    cgroups.create(f"{layout.cgroup}/room")
    _open_room(layout, listening)
    return chosen


def _is_lost(before: Settings, wanted: Settings, say: Say) -> bool:
    if before.kubernetes != wanted.kubernetes:
        raise BoxError(
            f"this box holds a cluster of Kubernetes {before.kubernetes}, not {wanted.kubernetes}. "
            "Drop its data with: box up --fresh"
        )
    if before.boot != settings.boot_id():
        # The API server's etcd writes without fsync: what a restart of the machine left may be torn.
        say("the machine was restarted since the box was last up: its data is dropped")
        return True
    return False


def _open_room(layout: Layout, listening: socket.socket) -> None:
    folder = layout.logs / "room"
    folder.mkdir(parents=True, exist_ok=True)
    room = (sys.executable, "-m", "box.room", str(layout.home), layout.name, str(listening.fileno()))
    with (folder / "room.log").open("ab") as log:
        process = subprocess.Popen(
            ["unshare", *_NAMESPACES, *room],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=REPOSITORY,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(REPOSITORY)},
            pass_fds=[listening.fileno()],
            start_new_session=True,
        )
    listening.close()
    deadline = time.monotonic() + 20
    while not control.answers(layout):
        if process.poll() is not None or time.monotonic() > deadline:
            tail = (folder / "room.log").read_text().strip().splitlines()[-1:]
            raise BoxError(f"the box did not start: {' '.join(tail)}. See: box logs room")
        time.sleep(0.02)


def _listen(port: int) -> socket.socket:
    """A port on loopback; the same as last time if it is free, so that an open shell's kubeconfig stays right."""
    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind(("127.0.0.1", port))
    except OSError:
        listening.bind(("127.0.0.1", 0))
    listening.listen(128)
    return listening


# ending


def _clean(layout: Layout) -> None:
    """Ends what is left of an earlier run, whole or in pieces."""
    pid = room_pid(layout)
    if pid is not None:
        os.kill(pid, signal.SIGKILL)
    deadline = time.monotonic() + 5
    while (room_pid(layout) is not None or cgroups.processes(layout.cgroup)) and time.monotonic() < deadline:
        for stray in cgroups.processes(layout.cgroup) if pid is None else ():
            with contextlib.suppress(ProcessLookupError):
                os.kill(stray, signal.SIGKILL)
        time.sleep(0.02)
    cgroups.remove(layout.cgroup)
    for name in ("room.pid", layout.control.name):
        (layout.state / name).unlink(missing_ok=True)


def _drop_data(layout: Layout) -> None:
    for entry in layout.state.iterdir() if layout.state.exists() else ():
        if entry.name == "lock":
            continue
        shutil.rmtree(entry) if entry.is_dir() and not entry.is_symlink() else entry.unlink()


def _purge(layout: Layout, *, say: Say) -> None:
    boxes = layout.home / "boxes"
    others = [entry.name for entry in boxes.iterdir() if room_pid(Layout(layout.home, entry.name)) is not None]
    if others:
        raise BoxError(f"the cache is in use by: {', '.join(others)}. Take them down first")
    say(f"dropping data, builds and images in {layout.home}")
    for entry in (boxes, layout.tools, layout.images, layout.image_store):
        shutil.rmtree(entry, ignore_errors=True)


# waiting


def _until(layout: Layout, what: str, done: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _PATIENCE
    while not done():
        if room_pid(layout) is None:
            raise BoxError("the box ended while it was starting. See: box logs room")
        if time.monotonic() > deadline:
            problems = " ".join(control.call(layout, "status")["failures"])
            raise BoxError(f"{what} did not become ready in {_PATIENCE:.0f} s. {problems} See: box status, box logs")
        time.sleep(0.1)


def _cluster_objects(chosen: Settings) -> list[dict[str, object]]:
    image = images.COREDNS.names[0]
    return [
        *cluster_dns.objects(image=image, replicas=min(2, chosen.nodes)),
        *volumes.storage_classes(),
        *objectstore.objects(),
    ]


def _forget_other_nodes(api: Api, chosen: Settings) -> None:
    for node in api.list("/api/v1/nodes"):
        if node["metadata"]["name"] not in chosen.workers:
            api.delete(f"/api/v1/nodes/{node['metadata']['name']}")


def _ready_nodes(api: Api, since: float) -> set[str]:
    """Ready, and heard of since the box was started: a cluster that came back still shows its old state at first."""
    with contextlib.suppress(ApiError):
        ready = {node["metadata"]["name"] for node in api.list("/api/v1/nodes") if _is_ready(node)}
        leases = api.list("/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases")
        return ready & {lease["metadata"]["name"] for lease in leases if _renewed(lease) > since}
    return set()


def _renewed(lease: dict[str, Any]) -> float:
    return datetime.fromisoformat(lease["spec"].get("renewTime", "1970-01-01T00:00:00Z")).timestamp()


def _is_ready(node: dict[str, object]) -> bool:
    status = node.get("status")
    conditions = status.get("conditions", []) if isinstance(status, dict) else []
    return any(entry["type"] == "Ready" and entry["status"] == "True" for entry in conditions)


def _dns_ready(api: Api) -> bool:
    with contextlib.suppress(ApiError):
        found = api.get(f"/apis/apps/v1/namespaces/{cluster_dns.NAMESPACE}/deployments/coredns")
        status, generation = found.get("status", {}), found["metadata"]["generation"]
        current = status.get("observedGeneration") == generation
        return bool(current and status.get("readyReplicas", 0) >= found["spec"]["replicas"])
    return False
