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
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from box import cgroups, control, preflight, settings
from box.image import image_store, images
from box.kube import pki
from box.layout import REPOSITORY, BoxError, Layout
from box.progress import Say
from box.readiness import wait_until_ready
from box.settings import Settings
from box.toolchain import builds, debian

_NAMESPACES = ("--net", "--mount", "--pid", "--fork", "--kill-child", "--propagation", "private")


def up(layout: Layout, asked: dict[str, Any], *, fresh: bool, say: Say) -> None:
    """Returns when all nodes and the name service are ready; `asked` holds those settings that were given."""
    begun = time.monotonic()
    if not running(layout):
        preflight.check(layout)
    with exclusive(layout):
        if running(layout) and not fresh:
            chosen = _same(layout, asked)
            _all_powered(layout)
        else:
            before = None if fresh else settings.load(layout)
            wanted = replace(before, **asked) if before else Settings(**asked)
            kept = before is not None and not is_lost(layout, before, wanted, say=say)
            set_up(layout, wanted.kubernetes, say=say)
            begun = time.monotonic()  # what was installed and built just now is told apart
            _clean(layout)
            chosen = _start(layout, wanted, kept=kept)
        wait_until_ready(
            layout,
            chosen,
            alive=lambda: room_pid(layout) is not None,
            say=lambda text: say(f"{time.monotonic() - begun:5.1f} s  {text}"),
        )


def set_up(layout: Layout, kubernetes: str, *, say: Say) -> None:
    """Installs and builds whatever is missing to start a box."""
    if debian.missing():
        debian.install(say=say)
        preflight.check(layout)  # once more, with the programs it needs to look at the kernel
    builds.ensure(layout, [f"kubernetes-{kubernetes}", "etcd-3.6"], say=say)
    image_store.ensure_images(layout, images.ESSENTIAL, say=say)
    try:
        image_store.ensure_images(layout, [images.BUSYBOX.key], say=say)
    except BoxError as error:
        say(f"this box will have no busybox image: {error}")


def down(layout: Layout, *, purge: bool, say: Say) -> None:
    begun = time.monotonic()
    preflight.check_root()
    existed = room_pid(layout) is not None
    if layout.state.exists():
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
    except PermissionError as error:
        raise BoxError(f"{layout.state} belongs to another user. Run it with: sudo -E") from error
    except (OSError, ValueError):
        return None
    ours = [b"box.room", str(layout.home).encode(), layout.name.encode()]
    return pid if all(part in command for part in ours) else None


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
            change = f"{layout.command('down')}, then {layout.command(f'up --{name} {value}')}"
            raise BoxError(f"the box is up with --{name} {getattr(chosen, name)}, not {value}. To change it: {change}")
    return chosen


def _all_powered(layout: Layout) -> None:
    """A node that somebody switched off will not become ready by waiting."""
    nodes = control.call(layout, "status")["nodes"]
    for name, node in nodes.items():
        if not node["power"]:
            raise BoxError(f"the box is up, but {name} has no power: {layout.command(f'node start {name}')}")
        if not node["cable"]:
            raise BoxError(f"the box is up, but {name} has its cable pulled: {layout.command(f'node join {name}')}")


def _start(layout: Layout, wanted: Settings, *, kept: bool) -> Settings:
    cgroups.create(f"{layout.cgroup}/room")
    earlier = settings.load(layout)
    if not kept:
        _drop_data(layout)
    listening = _listen(earlier.relay_port if earlier else 0)
    chosen = replace(
        wanted,
        relay_port=listening.getsockname()[1],
        boot=settings.boot_id(),
        started=time.time(),
        kubernetes_folder=str(builds.folder(layout, wanted.tool)),
        etcd_program=str(builds.program(layout, "etcd-3.6", "etcd")),
    )
    settings.save(layout, chosen)
    pki.create(layout, chosen.workers, relay_port=chosen.relay_port)
    _open_room(layout, listening)
    return chosen


def is_lost(layout: Layout, before: Settings, wanted: Settings, *, say: Say) -> bool:
    """Whether the data of an earlier run cannot be used again."""
    if before.boot != settings.boot_id():
        # The API server's etcd writes without fsync: what a restart of the machine left may be torn.
        say("the machine was restarted since the box was last up: its data is dropped")
        return True
    if before.kubernetes != wanted.kubernetes:
        raise BoxError(
            f"this box holds a cluster of Kubernetes {before.kubernetes}, not {wanted.kubernetes}. "
            f"Drop its data with: {layout.command(f'up --fresh --kubernetes {wanted.kubernetes}')}"
        )
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
            env=_environment(),
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


def _environment() -> dict[str, str]:
    """Nothing of the caller's: a proxy or an ETCD_NAME in it would reach every program of the cluster."""
    passed_on = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return {**passed_on, "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(REPOSITORY)}


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
        for stray in cgroups.processes(layout.cgroup):
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
    present = boxes.iterdir() if boxes.exists() else ()
    others = [entry.name for entry in present if room_pid(Layout(layout.home, entry.name)) is not None]
    if others:
        raise BoxError(f"the cache is in use by: {', '.join(others)}. Take them down first")
    say(f"dropping data, builds and images in {layout.home}")
    for entry in (boxes, layout.tools, layout.images, layout.image_store):
        shutil.rmtree(entry, ignore_errors=True)
