"""Image archives in the format of `docker save`, written without a container engine.

The same input gives the same bytes: owner is root, times are zero, names are sorted. A layer is written straight into
the archive and hashed on the way; its header, which needs the size, is filled in afterwards.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import platform
import stat
import tarfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, cast

SEARCH_PATH = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
MACHINES = {"x86_64": "amd64", "aarch64": "arm64"}


@dataclass(frozen=True)
class File:
    path: str
    source: Path
    mode: int = 0o755


@dataclass(frozen=True)
class Text:
    path: str
    content: str
    mode: int = 0o644


@dataclass(frozen=True)
class Link:
    path: str
    target: str


@dataclass(frozen=True)
class Folder:
    path: str
    mode: int = 0o755


@dataclass(frozen=True)
class Tree:
    """Everything below a folder of this machine."""

    path: str
    source: Path


Entry = File | Text | Link | Folder | Tree
Layer = Sequence[Entry]


@dataclass(frozen=True)
class Settings:
    """How a container of the image starts."""

    command: tuple[str, ...]
    user: str = ""
    folder: str = "/"
    environment: tuple[str, ...] = field(default=())


def write_archive(target: Path, *, names: Sequence[str], layers: Sequence[Layer], settings: Settings) -> None:
    """Writes the image; `target` appears when it is complete."""
    fresh = target.with_name(target.name + ".new")
    with fresh.open("w+b") as file:
        digests = [_write_layer(file, f"layer{i}.tar", layer) for i, layer in enumerate(layers)]
        config = json.dumps(_config(settings, digests), sort_keys=True).encode()
        config_name = hashlib.sha256(config).hexdigest() + ".json"
        layer_names = [f"layer{i}.tar" for i in range(len(layers))]
        manifest = [{"Config": config_name, "RepoTags": list(names), "Layers": layer_names}]
        _write_member(file, config_name, config)
        _write_member(file, "manifest.json", json.dumps(manifest).encode())
        file.write(bytes(2 * tarfile.BLOCKSIZE))
    fresh.rename(target)


def _config(settings: Settings, digests: Sequence[str]) -> dict[str, object]:
    return {
        "architecture": MACHINES.get(platform.machine(), platform.machine()),
        "os": "linux",
        "created": "1970-01-01T00:00:00Z",
        "config": {
            "Cmd": list(settings.command),
            "Env": [SEARCH_PATH, *settings.environment],
            "User": settings.user,
            "WorkingDir": settings.folder,
        },
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{digest}" for digest in digests]},
    }


class _Hashing:
    """A file that only takes writes and knows what went through it."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.digest = hashlib.sha256()
        self.length = 0

    def write(self, data: bytes) -> int:
        self.digest.update(data)
        self.length += len(data)
        return self._file.write(data)


def _write_layer(file: BinaryIO, name: str, layer: Layer) -> str:
    start = file.tell()
    file.write(bytes(tarfile.BLOCKSIZE))
    through = _Hashing(file)
    with tarfile.open(fileobj=cast(BinaryIO, through), mode="w|", format=tarfile.GNU_FORMAT) as tar:
        for member, content in _members(layer):
            if content is None:
                tar.addfile(member)
            else:
                with content:
                    tar.addfile(member, content)
    file.write(bytes(-through.length % tarfile.BLOCKSIZE))
    end = file.tell()
    file.seek(start)
    file.write(_header(name, through.length))
    file.seek(end)
    return through.digest.hexdigest()


def _write_member(file: BinaryIO, name: str, content: bytes) -> None:
    file.write(_header(name, len(content)) + content + bytes(-len(content) % tarfile.BLOCKSIZE))


def _header(name: str, length: int) -> bytes:
    member = tarfile.TarInfo(name)
    member.size = length
    return member.tobuf(tarfile.GNU_FORMAT)


def _members(layer: Layer) -> Iterator[tuple[tarfile.TarInfo, BinaryIO | None]]:
    """The tar members of a layer, every folder before what is in it and none twice."""
    known = {""}
    for entry in layer:
        path = entry.path.strip("/")
        for parent in _parents(path):
            if parent not in known:
                known.add(parent)
                yield _folder(parent, 0o755), None
        match entry:
            case Tree():
                yield from _tree(path, entry.source, known)
            case Folder():
                known.add(path)
                yield _folder(path, entry.mode), None
            case Link():
                yield _link(path, entry.target), None
            case Text():
                content = entry.content.encode()
                yield _file(path, len(content), entry.mode), io.BytesIO(content)
            case File():
                yield _file(path, entry.source.stat().st_size, entry.mode), entry.source.open("rb")


def _parents(path: str) -> list[str]:
    parts = path.split("/")[:-1]
    return ["/".join(parts[: i + 1]) for i in range(len(parts))]


def _tree(path: str, source: Path, known: set[str]) -> Iterator[tuple[tarfile.TarInfo, BinaryIO | None]]:
    if path and path not in known:
        known.add(path)
        yield _folder(path, stat.S_IMODE(source.stat().st_mode)), None
    for item in sorted(os.scandir(source), key=lambda i: i.name):
        inner = f"{path}/{item.name}".strip("/")
        if item.is_symlink():
            yield _link(inner, os.readlink(item.path)), None
        elif item.is_dir():
            yield from _tree(inner, Path(item.path), known)
        else:
            status = item.stat()
            yield _file(inner, status.st_size, stat.S_IMODE(status.st_mode)), open(item.path, "rb")  # noqa: SIM115


def _folder(path: str, mode: int) -> tarfile.TarInfo:
    member = tarfile.TarInfo(path)
    member.type, member.mode = tarfile.DIRTYPE, mode
    return member


def _link(path: str, target: str) -> tarfile.TarInfo:
    member = tarfile.TarInfo(path)
    member.type, member.mode, member.linkname = tarfile.SYMTYPE, 0o777, target
    return member


def _file(path: str, length: int, mode: int) -> tarfile.TarInfo:
    member = tarfile.TarInfo(path)
    member.size, member.mode = length, mode
    return member
