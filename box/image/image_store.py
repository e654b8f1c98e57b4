"""A containerd store in which every image is already unpacked.

Unpacking takes seconds per image and node; hard-linking a finished store takes a fraction of one. The store is filled
by a containerd of its own that has no network, lives in namespaces of its own and dies with this process.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import shutil
import subprocess
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from box.containerd import NAMESPACE, TRIES, UNUSED_PLUGINS, import_arguments, was_swept
from box.image import images
from box.image.images import Image
from box.layout import BoxError, Layout
from box.lock import locked
from box.progress import Say, Ticker, clock

MANAGED = "io.cri-containerd.image=managed"  # the label of an image that a kubelet may use
TIMEOUT = 30.0


def ensure_images(layout: Layout, names: Iterable[str] | None = None, *, say: Say) -> None:
    """Writes the named images, or all that have a recipe, and imports every image file that is new."""
    images.ensure_tars(layout, images.select(names), say=say)
    store = Store(layout.image_store)
    with locked(store.lock, what="import of images", say=say):
        wanted = [images.describe(tar) for tar in images.tars(layout)]
        if not store.holds_exactly(wanted):
            _fill(store, wanted, say)


def copy_to(layout: Layout, destination: Path, *, say: Say) -> None:
    """Makes a node's containerd folder; only the databases take space of their own.

    It appears when it is whole: a containerd on half a copy would write into the store's own databases.
    """
    store = Store(layout.image_store)
    draft = destination.with_name(destination.name + ".draft")
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(parents=True)
    with locked(store.lock, what="import of images", say=say, shared=True):
        if store.unfinished.exists() or not store.root.is_dir():
            raise BoxError("The image store is not complete: run `box image build`.")
        same_disk = store.root.stat().st_dev == draft.stat().st_dev
        linking = ["--link"] if same_disk else []
        subprocess.run(["cp", "--archive", *linking, f"{store.root}/.", str(draft)], check=True)
        if same_disk:
            for database in store.root.rglob("*.db"):
                own = draft / database.relative_to(store.root)
                own.unlink()
                shutil.copy2(database, own)
    draft.rename(destination)


@dataclass(frozen=True)
class Store:
    """The folder: containerd's own files, and a copy of the note of every image that is in them."""

    path: Path

    @property
    def root(self) -> Path:
        return self.path / "root"

    @property
    def lock(self) -> Path:
        return self.path / "lock"

    @property
    def unfinished(self) -> Path:
        """There while an import runs; found before one, it says that the last was killed: nothing can be trusted."""
        return self.path / "unfinished"

    @property
    def notes(self) -> Path:
        return self.path / "notes"

    def holds(self, image: Image) -> bool:
        own = self.notes / images.note(image.tar).name
        return own.exists() and own.read_text() == images.note(image.tar).read_text()

    def holds_exactly(self, wanted: list[Image]) -> bool:
        return not self.unfinished.exists() and all(map(self.holds, wanted)) and not self.extra(wanted)

    def extra(self, wanted: list[Image]) -> list[Path]:
        known = {images.note(image.tar).name for image in wanted}
        return [own for own in self.notes.glob("*.json") if own.name not in known]

    def add(self, image: Image) -> None:
        self.notes.mkdir(exist_ok=True)
        shutil.copyfile(images.note(image.tar), self.notes / images.note(image.tar).name)


def _fill(store: Store, wanted: list[Image], say: Say) -> None:
    begin = time.monotonic()
    if store.unfinished.exists():
        say("The last import of images was interrupted: importing all of them again.")
        for part in (store.root, store.notes):
            shutil.rmtree(part, ignore_errors=True)
    store.unfinished.touch()
    fresh = [image for image in wanted if not store.holds(image)]
    with _containerd(store.root) as containerd, Ticker(say) as ticker:
        for number, image in enumerate(fresh, start=1):
            spent = clock(time.monotonic() - begin)
            ticker.show(f"importing image {number} of {len(fresh)}  {image.names[0]}  {spent}")
            containerd.take(image.tar)
            store.add(image)
        containerd.keep_only({name for image in wanted for name in image.names})
    for own in store.extra(wanted):
        own.unlink()
    store.unfinished.unlink()
    say(f"{len(fresh)} images imported into the store in {time.monotonic() - begin:.1f} s")


class _Containerd:
    def __init__(self, socket: Path) -> None:
        self._socket = socket

    def ctr(self, *arguments: str) -> str:
        command = ["ctr", "--address", str(self._socket), "--namespace", NAMESPACE, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise BoxError(f"containerd refused `ctr {' '.join(arguments)}`: {done.stderr.strip()}")
        return done.stdout

    def take(self, tar: Path) -> None:
        for left in reversed(range(TRIES)):
            try:
                self.ctr(*import_arguments(tar))
                return
            except BoxError as error:
                if not left or not was_swept(str(error)):
                    raise

    def keep_only(self, names: set[str]) -> None:
        """Removes what no wanted image needs, and waits until the rest is marked as usable by a kubelet."""
        listed = self._listed()
        deadline = time.monotonic() + TIMEOUT
        while not all(row.managed for row in listed if row.name in names):
            if time.monotonic() > deadline:
                raise BoxError(f"containerd did not take over its new images within {TIMEOUT:.0f} s: run this again.")
            time.sleep(0.1)
            listed = self._listed()
        unwanted = unneeded(listed, names)
        if unwanted:
            self.ctr("images", "remove", "--sync", *unwanted)

    def _listed(self) -> list[Listed]:
        rows = [line.split() for line in self.ctr("images", "list").splitlines()[1:]]
        return [Listed(name=row[0], digest=row[2], managed=MANAGED in row[-1]) for row in rows]


@dataclass(frozen=True)
class Listed:
    """A row of `ctr images list`. For every image a kubelet may use there is a second one, named by its digest."""

    name: str
    digest: str
    managed: bool


def unneeded(listed: list[Listed], names: set[str]) -> list[str]:
    needed = {row.digest for row in listed if row.name in names}
    return [row.name for row in listed if row.name not in names and not ("/" not in row.name and row.digest in needed)]


@contextlib.contextmanager
def _containerd(root: Path) -> Iterator[_Containerd]:
    """A containerd for as long as the block runs; the caller holds the store's lock, so there is never a second one."""
    # A socket's path may have 108 characters, and the cache folder's may be longer.
    work = Path("/run") / f"box-store-{hashlib.sha256(str(root).encode()).hexdigest()[:12]}"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    config = work / "config.toml"
    config.write_text(_config(root, work))
    # Killed with this process; what it has mounted goes with its namespace.
    command = ["setpriv", "--pdeathsig", "KILL", "unshare", "--net", "--mount", "containerd", "--config", str(config)]
    with (work / "log").open("w") as log:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
    try:
        containerd = _Containerd(work / "c.sock")
        _wait_until_serving(containerd, process, work / "log")
        yield containerd
    finally:
        _stop(process)
        shutil.rmtree(work)


def _config(root: Path, work: Path) -> str:
    quoted = json.dumps  # TOML's basic strings are JSON's
    return f"""
version = 2
root = {quoted(str(root))}
state = {quoted(str(work / "state"))}
temp = {quoted(str(work / "tmp"))}
oom_score = 0
disabled_plugins = {json.dumps(UNUSED_PLUGINS)}
[grpc]
  address = {quoted(str(work / "c.sock"))}
[plugins."io.containerd.grpc.v1.cri"]
  restrict_oom_score_adj = true
  disable_tcp_service = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    conf_dir = {quoted(str(work))}
"""


def _wait_until_serving(containerd: _Containerd, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + TIMEOUT
    while True:
        try:
            containerd.ctr("version")
            return
        except BoxError:
            if process.poll() is not None or time.monotonic() > deadline:
                last = log.read_text().splitlines()[-1:] or ["no message"]
                raise BoxError(f"containerd does not start, so no image can be imported: {last[0]}") from None
            time.sleep(0.1)


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
