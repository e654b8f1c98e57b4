"""The operator's own image: Python, the locked dependencies and the operator, nothing else.

There is no shell and no package manager in it: Debian's packages are unpacked, not installed, so none of their scripts
run and nothing but what is listed here comes along. `python3 -m box.image.operator_image FOLDER` makes the same root
file system for the Containerfile, so that people with a container builder get the same content.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

from box.image.archive import Layer, Tree
from box.layout import REPOSITORY
from box.progress import Say
from box.toolchain import downloads

USER = "65532:65532"
COMMAND = ("etcd-operator",)
ENVIRONMENT = ("PYTHONDONTWRITEBYTECODE=1", "PYTHONUNBUFFERED=1")
PYTHON = "python3.11"  # Debian 12's, whose packages these are
SITE = f"usr/local/lib/{PYTHON}/dist-packages"
PROGRAMS = "usr/local/bin"
PACKAGE = "src/etcd_operator"
REQUIREMENTS = "requirements/runtime.txt"
PROJECT = "pyproject.toml"

PACKAGES = {
    f"{PYTHON}-minimal": "the interpreter",
    f"lib{PYTHON}-minimal": "modules it cannot start without",
    f"lib{PYTHON}-stdlib": "the rest of the standard library",
    "libc6": "C library, with resolver",
    "libexpat1": "the interpreter is linked to it",
    "zlib1g": "the interpreter is linked to it",
    "libssl3": "ssl and hashlib",
    "libffi8": "ctypes",
    "libuuid1": "uuid",
    "libbz2-1.0": "bz2, imported by shutil and zipfile",
    "liblzma5": "lzma, imported by shutil and zipfile",
    "libstdc++6": "compiled dependencies",
    "libgcc-s1": "compiled dependencies, and ending a thread",
    "ca-certificates": "whom to trust when a backup goes to a public object store",
}

UNNEEDED = (
    "usr/share",
    "usr/lib/*-linux-gnu/gconv",
    "usr/lib/*-linux-gnu/audit",
    "usr/lib/*-linux-gnu/perl*",
    "etc/ld.so.conf.d",
    "usr/lib/binfmt.d",
    "usr/sbin",
    "sbin",
    "etc/ca-certificates",
    f"etc/{PYTHON}",  # Debian's hook for crash reports
    f"usr/lib/{PYTHON}/sitecustomize.py",
    *(
        f"usr/lib/{PYTHON}/{module}"
        for module in ("ensurepip", "idlelib", "lib2to3", "pydoc_data", "test", "tkinter", "turtle.py", "turtledemo")
    ),
)

# What a missing library or an over-eager line above would break.
CHECK = """
import asyncio, bz2, ctypes, decimal, hashlib, lzma, ssl, uuid, xml.parsers.expat, zlib
assert ssl.create_default_context().get_ca_certs()
"""

CERTIFICATES = "etc/ssl/certs/ca-certificates.crt"

FILES = {
    "etc/passwd": "root:x:0:0:root:/:/nologin\nnonroot:x:65532:65532:nonroot:/:/nologin\n",
    "etc/group": "root:x:0:\nnonroot:x:65532:\n",
    "etc/nsswitch.conf": "hosts: files dns\n",
}


def fingerprint(source: Path) -> str:
    """Of everything that decides the content, up to Debian's own updates."""
    digest = hashlib.sha256(_base_fingerprint().encode())
    files = [source / PROJECT, source / REQUIREMENTS, *sorted((source / PACKAGE).rglob("*"))]
    for file in files:
        if file.is_file() and "__pycache__" not in file.parts:
            digest.update(f"{file.relative_to(source)}\n".encode() + file.read_bytes())
    return digest.hexdigest()[:16]


def _base_fingerprint() -> str:
    return hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:16]


def make_layers(cache: Path, *, source: Path, say: Say) -> list[Layer]:
    """What changes least lies lowest: after a change of the operator's code only the last layer is new."""
    base_key = _base_fingerprint()
    locked = (source / REQUIREMENTS).read_bytes()
    locked_key = hashlib.sha256(base_key.encode() + locked).hexdigest()[:16]

    def dependencies_into(into: Path) -> None:
        make_dependencies(into, base=base, requirements=source / REQUIREMENTS, say=say)

    base = _kept(cache, f"base-{base_key}", lambda into: make_base(into, say=say))
    dependencies = _kept(cache, f"dependencies-{locked_key}", dependencies_into)
    application = cache / "application"
    shutil.rmtree(application, ignore_errors=True)
    make_application(application, base=base, source=source)
    return [[Tree("", layer)] for layer in (base, dependencies, application)]


def _kept(cache: Path, name: str, make: Callable[[Path], None]) -> Path:
    """A folder made once; it appears when it is complete, and its predecessors go."""
    if not (cache / name).is_dir():
        kind = name.partition("-")[0]
        for old in cache.glob(f"{kind}*"):
            shutil.rmtree(old)
        make(cache / f"{kind}.new")
        (cache / f"{kind}.new").rename(cache / name)
    return cache / name


def make_base(into: Path, *, say: Say) -> None:
    """Python and its libraries, from Debian."""
    downloads.debian_files(tuple(PACKAGES), into, say=say)
    _bundle_certificates(into)
    for pattern in UNNEEDED:
        for found in into.glob(pattern):
            shutil.rmtree(found) if found.is_dir() and not found.is_symlink() else found.unlink()
    for path, content in FILES.items():
        (into / path).parent.mkdir(parents=True, exist_ok=True)
        (into / path).write_text(content)
    (into / "usr/bin/python3").symlink_to(PYTHON)
    (into / "tmp").mkdir()
    (into / "tmp").chmod(0o1777)
    precompile(into / "usr/lib" / PYTHON, base=into, root=into)
    subprocess.run(["chroot", str(into), "/usr/bin/python3", "-c", CHECK], check=True)


def _bundle_certificates(root: Path) -> None:
    """The one file that Debian's maintainer script would make, where OpenSSL looks for it."""
    bundle = root / CERTIFICATES
    bundle.parent.mkdir(parents=True, exist_ok=True)
    bundle.write_text("".join(c.read_text() for c in sorted(root.glob("usr/share/ca-certificates/mozilla/*.crt"))))
    default = root / "usr/lib/ssl/cert.pem"
    default.parent.mkdir(parents=True, exist_ok=True)
    default.symlink_to(f"/{CERTIFICATES}")


def make_dependencies(into: Path, *, base: Path, requirements: Path, say: Say) -> None:
    """The locked packages, as wheels and with their checksums, for the image's Python and not for this one."""
    site = into / SITE
    site.mkdir(parents=True, exist_ok=True)
    version = PYTHON.removeprefix("python")
    flags = ["--quiet", "--no-deps", "--no-compile", "--only-binary=:all:", "--require-hashes"]
    goal = [f"--python-version={version}", f"--target={site}", f"--requirement={requirements}"]
    downloads.run_pip(["install", *flags, *goal], what="the operator's dependencies", say=say)
    shutil.rmtree(site / "bin", ignore_errors=True)
    precompile(site, base=base, root=into)


def make_application(into: Path, *, base: Path, source: Path) -> None:
    """The operator's package and a launcher for each of its programs."""
    site = into / SITE
    shutil.copytree(source / PACKAGE, site / Path(PACKAGE).name, ignore=shutil.ignore_patterns("__pycache__"))
    precompile(site, base=base, root=into)
    (into / PROGRAMS).mkdir(parents=True, exist_ok=True)
    for name, target in programs(source / PROJECT).items():
        launcher = into / PROGRAMS / name
        launcher.write_text(launcher_script(target))
        launcher.chmod(0o755)


def programs(pyproject: Path) -> dict[str, str]:
    declared = tomllib.loads(pyproject.read_text())["project"]["scripts"]
    return {str(name): str(target) for name, target in declared.items()}


def launcher_script(target: str) -> str:
    module, _, function = target.partition(":")
    return f"#!/usr/bin/python3\nimport sys\n\nfrom {module} import {function}\n\nsys.exit({function}())\n"


def precompile(folder: Path, *, base: Path, root: Path) -> None:
    """Byte code that is never checked against its source: the root is read-only, and a start takes half the time.

    The image's own interpreter compiles, through its own loader: another version's byte code would be ignored.
    """
    loader = next(base.glob("lib/*-linux-gnu/ld-linux-*"))
    libraries = f"{loader.parent}:{base / 'usr/lib' / loader.parent.name}"
    # -B: modules that the compiler itself imports would else be written first, with times and build paths in them.
    arguments = ["-I", "-B", "-m", "compileall", "-q", "--invalidation-mode=unchecked-hash", "-s", str(root), "-p", "/"]
    subprocess.run(
        [str(loader), "--library-path", libraries, str(base / "usr/bin" / PYTHON), *arguments, str(folder)], check=True
    )


def main() -> None:
    """Makes the whole root file system in one folder."""
    root = Path(sys.argv[1])
    make_base(root, say=print)
    make_dependencies(root, base=root, requirements=REPOSITORY / REQUIREMENTS, say=print)
    make_application(root, base=root, source=REPOSITORY)
    print(f"{root}: {', '.join(programs(REPOSITORY / PROJECT))}")


if __name__ == "__main__":
    main()
