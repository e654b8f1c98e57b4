"""The descriptors of etcd's own API, out of the Go modules that the box builds its servers from.

They exist only inside compiled Go packages, so a small Go program prints them, compiled against the same `go.mod` and
with the same flags as the servers: what was compiled for those is not compiled again. What it printed is kept in the
cache of the box, named after all that it depends on.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from google.protobuf.descriptor_pb2 import FileDescriptorProto

from box.layout import default_layout
from box.toolchain.downloads import with_retries
from box.toolchain.go_command import find_go, run_go
from box.toolchain.tools import GO_SOURCES

PROGRAM = Path(__file__).parent / "main.go"

OLD_PACKAGES = {
    "go.etcd.io/etcd/api/v3/authpb": "github.com/coreos/etcd/auth/authpb",
    "go.etcd.io/etcd/api/v3/etcdserverpb": "github.com/coreos/etcd/etcdserver/etcdserverpb",
    "go.etcd.io/etcd/api/v3/mvccpb": "github.com/coreos/etcd/mvcc/mvccpb",
}


@dataclass(frozen=True)
class Source:
    minor: str
    packages: dict[str, str]  # what to import instead

    @property
    def folder(self) -> Path:
        return GO_SOURCES / f"etcd-{self.minor}"

    @property
    def program(self) -> str:
        text = PROGRAM.read_text()
        for new, old in self.packages.items():
            text = text.replace(f'"{new}"', f'"{old}"')
        return text


SOURCES = (
    Source("3.2", OLD_PACKAGES),
    Source("3.3", OLD_PACKAGES),
    Source("3.5", {}),
    Source("3.6", {}),
    Source("3.7", {}),
)


def files_of(source: Source) -> list[FileDescriptorProto]:
    compressed = [base64.b64decode(text) for text in json.loads(_printed(source))]
    return [FileDescriptorProto.FromString(gzip.decompress(one)) for one in compressed]


def _printed(source: Source) -> str:
    pins = [source.folder / "go.mod", source.folder / "go.sum"]
    made_of = "\0".join((source.program, *(pin.read_text() for pin in pins)))
    fingerprint = hashlib.sha256(made_of.encode()).hexdigest()[:16]
    cached = default_layout().home / "descriptors" / f"{source.minor}-{fingerprint}"
    if not cached.exists():
        cached.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cached.parent) as name:
            folder = Path(name)
            for pin in pins:
                shutil.copy(pin, folder)
            (folder / "main.go").write_text(source.program)
            printed = folder / "printed"
            printed.write_text(with_retries(f"etcd {source.minor}", lambda: _run(folder), say=print))
            printed.rename(cached)
    return cached.read_text()


def _run(folder: Path) -> str:
    arguments = ["run", "-mod=readonly", "-trimpath", "-buildvcs=false", "."]
    return run_go(find_go(folder), arguments, folder=folder, watch=lambda _: None)
