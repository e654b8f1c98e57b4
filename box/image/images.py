"""Which images the box holds, under the names users know.

There is no registry inside the box: an image is a tar file next to a small JSON file, its note, that says which names
it carries and from what it was made, so that it is written again only when that changes.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from box.image import operator_image
from box.image.archive import File, Folder, Layer, Link, Settings, Text, Tree, write_archive
from box.image.names import normalise
from box.image.user_archive import repack
from box.layout import REPOSITORY, BoxError, Layout
from box.lock import locked
from box.progress import Say, size
from box.toolchain import builds
from box.toolchain.tools import tool

RECIPE = "1"  # to be raised when the way of writing changes what comes out
OF_USER = "user-"  # how the files of images that people brought begin


@dataclass(frozen=True)
class Image:
    """A tar file in the images folder."""

    tar: Path
    names: tuple[str, ...]
    fingerprint: str


@dataclass(frozen=True)
class Recipe:
    key: str  # the tar file's name
    names: tuple[str, ...]
    settings: Settings
    layers: Callable[[Layout, Say], Sequence[Layer]]
    tools: tuple[str, ...] = ()
    sources: Callable[[], str] = str  # a fingerprint of what it is made of besides tools

    def fingerprint(self) -> str:
        parts = [RECIPE, repr(self.names), repr(self.settings), self.sources()]
        parts += [builds.fingerprint(tool(name)) for name in self.tools]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def single_program(name: str) -> Recipe:
    def layers(layout: Layout, _: Say) -> list[Layer]:
        return [[File(name, builds.program(layout, name, name))]]

    names = (f"box.local/{name}:{tool(name).version}",)
    return Recipe(name, names, Settings(command=(f"/{name}",)), layers, tools=(name,))


def busybox() -> Recipe:
    def layers(layout: Layout, _: Say) -> list[Layer]:
        program = builds.program(layout, "busybox", "busybox")
        applets = subprocess.run([program, "--list"], check=True, capture_output=True, text=True).stdout.split()
        return [
            [
                File("bin/busybox", program),
                *(Link(f"bin/{applet}", "busybox") for applet in applets if applet != "busybox"),
                Tree("", program.parent / "root"),
                Text("etc/passwd", "root:x:0:0:root:/root:/bin/sh\n"),
                Text("etc/group", "root:x:0:\n"),
                Text("etc/nsswitch.conf", "hosts: files dns\n"),
                Folder("root", 0o700),
                Folder("tmp", 0o1777),
            ]
        ]

    # The old operator's documentation and pods name 1.28.0-glibc.
    names = ("docker.io/library/busybox:latest", "docker.io/library/busybox:1.28.0-glibc")
    return Recipe("busybox", names, Settings(command=("sh",)), layers, tools=("busybox",))


def etcd(tool_name: str) -> Recipe:
    """As the official images are: the binaries, and what they need to start."""
    version = tool(tool_name).version

    def layers(layout: Layout, _: Say) -> list[Layer]:
        built = builds.folder(layout, tool_name)
        programs = [File(f"usr/local/bin/{name}", built / name) for name in tool(tool_name).binaries]
        libraries = [Tree("", built / "root")] if (built / "root").is_dir() else []
        return [[*programs, *libraries, Folder("tmp", 0o1777), Folder("var/etcd"), Folder("var/lib/etcd")]]

    names = (f"quay.io/coreos/etcd:v{version}", f"gcr.io/etcd-development/etcd:v{version}")
    settings = Settings(command=("/usr/local/bin/etcd",), folder="/var/lib/etcd")
    return Recipe(tool_name, names, settings, layers, tools=(tool_name,))


def operator() -> Recipe:
    def layers(layout: Layout, say: Say) -> list[Layer]:
        return operator_image.make_layers(layout.images / "operator", source=REPOSITORY, say=say)

    return Recipe(
        key="etcd-operator",
        names=("docker.io/library/etcd-operator:dev",),
        settings=Settings(
            command=operator_image.COMMAND, user=operator_image.USER, environment=operator_image.ENVIRONMENT
        ),
        layers=layers,
        sources=lambda: operator_image.fingerprint(REPOSITORY),
    )


PAUSE = single_program("pause")
COREDNS = single_program("coredns")
BUSYBOX = busybox()
OPERATOR = operator()
ETCD_VERSIONS = tuple(f"etcd-{version}" for version in ("3.2", "3.3", "3.4", "3.5", "3.5.1", "3.6", "3.7"))
ETCD = tuple(map(etcd, ETCD_VERSIONS))

RECIPES: tuple[Recipe, ...] = (PAUSE, COREDNS, BUSYBOX, OPERATOR, *ETCD)
ESSENTIAL: tuple[str, ...] = (PAUSE.names[0], COREDNS.names[0])  # without these no node gets ready


def select(names: Iterable[str] | None) -> list[Recipe]:
    """The recipes behind the given image names (or keys: `etcd-3.6`); all of them when none are given."""
    if names is None:
        return list(RECIPES)
    by_name = {name: recipe for recipe in RECIPES for name in (recipe.key, *recipe.names)}
    wanted: dict[str, Recipe] = {}
    for name in names:
        recipe = by_name.get(name) or by_name.get(normalise(name))
        if recipe is None:
            raise BoxError(f"The box cannot build {name}; it can {', '.join(recipe.key for recipe in RECIPES)}.")
        wanted[recipe.key] = recipe
    return list(wanted.values())


def ensure_tars(layout: Layout, recipes: Sequence[Recipe], *, say: Say) -> None:
    """Writes those of the tar files that are missing or made of something older, building their tools first."""
    builds.ensure(layout, dict.fromkeys(name for recipe in recipes for name in recipe.tools), say=say)
    with locked(layout.images / "lock", what="build of images", say=say):
        for recipe in recipes:
            image = Image(layout.images / f"{recipe.key}.tar", recipe.names, recipe.fingerprint())
            if image.tar.exists() and describe(image.tar) == image:
                continue
            layers = recipe.layers(layout, say)
            note(image.tar).unlink(missing_ok=True)
            write_archive(image.tar, names=image.names, layers=layers, settings=recipe.settings)
            _write_note(image)
            say(f"image {image.names[0]}: {size(image.tar.stat().st_size)}")
        _drop_unknown(layout)


def _drop_unknown(layout: Layout) -> None:
    known = {recipe.key for recipe in RECIPES}
    for tar in tars(layout):
        if tar.stem not in known and not tar.name.startswith(OF_USER):
            note(tar).unlink()
            tar.unlink()


def register(layout: Layout, archive: Path) -> Path:
    """Takes over an image archive of the user's; a later one with the same names replaces it."""
    layout.images.mkdir(parents=True, exist_ok=True)
    arriving = layout.images / f"arriving-{hashlib.sha256(str(archive.absolute()).encode()).hexdigest()[:16]}"
    names = repack(archive, arriving)
    tar = layout.images / f"{OF_USER}{hashlib.sha256(repr(names).encode()).hexdigest()[:16]}.tar"
    with arriving.open("rb") as file:
        fingerprint = hashlib.file_digest(file, "sha256").hexdigest()[:16]
    note(tar).unlink(missing_ok=True)
    arriving.rename(tar)
    _write_note(Image(tar, names, fingerprint))
    return tar


def note(tar: Path) -> Path:
    return tar.with_suffix(".json")


def _write_note(image: Image) -> None:
    fresh = image.tar.with_suffix(".note")
    fresh.write_text(json.dumps({"names": image.names, "fingerprint": image.fingerprint}) + "\n")
    fresh.rename(note(image.tar))


def describe(tar: Path) -> Image:
    """What the note says; an image without one is never current."""
    if not note(tar).exists():
        return Image(tar, (), "")
    written = json.loads(note(tar).read_text())
    return Image(tar, tuple(written["names"]), str(written["fingerprint"]))


def tars(layout: Layout) -> list[Path]:
    """Every complete image file."""
    return sorted(tar for tar in layout.images.glob("*.tar") if note(tar).exists())
