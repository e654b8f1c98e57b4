"""The Python environment of the checks, outside the tree and made once.

Its folder is named after the lock file and the interpreter: a changed lock gives a new environment instead of a
half-updated old one, and two checkouts never disturb each other. `python3 -m dev.environment PROGRAM …` runs a program
in it, with every tool's cache outside the tree as well; `--remove` removes it. `--lock NAME` takes another lock file of
`requirements/` than `dev`: the generator of the protobuf stubs is too old to live beside the rest.
"""

from __future__ import annotations

import fcntl
import hashlib
import importlib.util
import os
import platform
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from box.layout import REPOSITORY, default_layout

LOCKS = REPOSITORY / "requirements"
PURPOSE = {
    "dev": "ruff, mypy, import-linter, pytest and what they need",
    "stubs": "the generator of the protobuf stubs",
}
TRIES = 3
PAUSE_SECONDS = 10


class SetupError(Exception):
    """Something is missing, and the sentence says how to get it."""


@dataclass(frozen=True)
class Environment:
    """One virtual environment and the caches of the tools in it."""

    home: Path
    lock: Path
    lock_text: str

    @property
    def path(self) -> Path:
        made_of = "\n".join((self.lock_text, platform.python_version(), sys.base_prefix))
        return self.home / f"venv-{hashlib.sha256(made_of.encode()).hexdigest()[:12]}"

    @property
    def bin(self) -> Path:
        return self.path / "bin"

    @property
    def stamp(self) -> Path:
        """Written last, so an interrupted installation is not mistaken for a finished one."""
        return self.path / "complete"

    @property
    def caches(self) -> Path:
        return self.home / "checks"

    @property
    def packages(self) -> int:
        return sum("==" in line for line in self.lock_text.splitlines())

    def variables(self, base: Mapping[str, str]) -> dict[str, str]:
        """What a program needs to run in here and to leave nothing in the tree."""
        source = f"{REPOSITORY / 'src'}{os.pathsep}{REPOSITORY}"
        return {
            **base,
            "PATH": f"{self.bin}{os.pathsep}{base.get('PATH', os.defpath)}",
            "VIRTUAL_ENV": str(self.path),
            "PYTHONPATH": source,
            "PYTHONDONTWRITEBYTECODE": "1",
            "RUFF_CACHE_DIR": str(self.caches / "ruff"),
            "MYPY_CACHE_DIR": os.devnull,  # a cache of another checkout can make it fail; without one it takes 4 s
            "HYPOTHESIS_STORAGE_DIRECTORY": str(self.caches / "hypothesis"),
            "PYTEST_ADDOPTS": shlex.join(("-o", f"cache_dir={self.caches / 'pytest'}")),
        }


def default_environment(name: str = "dev") -> Environment:
    lock = LOCKS / f"{name}.txt"
    return Environment(home=default_layout().home, lock=lock, lock_text=lock.read_text())


def ensure(environment: Environment) -> None:
    """Make the environment if it is not there."""
    if environment.stamp.exists():
        return
    environment.home.mkdir(parents=True, exist_ok=True)
    with _only_one(environment.home / "venv.lock"):
        if not environment.stamp.exists():
            _make(environment)


@contextmanager
def _only_one(lock: Path) -> Iterator[None]:
    with lock.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _make(environment: Environment) -> None:
    began = time.monotonic()
    print(
        f"Python environment: {environment.packages} packages of requirements/{environment.lock.name} "
        f"({PURPOSE[environment.lock.stem]}) go to {environment.path}; this happens once.",
        flush=True,
    )
    if importlib.util.find_spec("ensurepip") is None:
        _install_venv_module()
    shutil.rmtree(environment.path, ignore_errors=True)
    _run([sys.executable, "-m", "venv", str(environment.path)], what="python3 -m venv")
    pip = [str(environment.bin / "python"), "-m", "pip", "--quiet", "--disable-pip-version-check"]
    try_again([*pip, "install", "--require-hashes", "--no-deps", "-r", str(environment.lock)], what="pip install")
    environment.stamp.touch()
    print(f"Python environment: ready after {time.monotonic() - began:.0f} s.", flush=True)


def _install_venv_module() -> None:
    """Debian keeps the half of `venv` that brings pip in a package of its own."""
    package = f"python3.{sys.version_info.minor}-venv"
    wanted = f"this Python ({sys.executable}) has no ensurepip, which makes virtual environments"
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        raise SetupError(f"{wanted}: install it (on Debian: apt-get install {package}) and run this again.")
    print(f"Debian package {package}: {wanted}.", flush=True)
    apt = ["apt-get", "--quiet=2", "--option", "Acquire::Retries=3"]
    try_again([*apt, "update"], what="apt-get update")
    try_again([*apt, "install", "--yes", "--no-install-recommends", package], what=f"apt-get install {package}")


def try_again(command: list[str], *, what: str, pause: float = PAUSE_SECONDS) -> None:
    """Downloads fail now and then; a pause and another try is what a person would do."""
    for attempt in range(1, TRIES):
        try:
            _run(command, what=what)
        except SetupError as failure:
            print(f"{failure} Try {attempt + 1} of {TRIES} in {pause:g} s.", file=sys.stderr, flush=True)
            time.sleep(pause)
        else:
            return
    _run(command, what=what)


def _run(command: list[str], *, what: str) -> None:
    variables = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env=variables, check=False)
    if done.returncode:
        sys.stderr.write(done.stdout.decode(errors="replace"))
        raise SetupError(f"{what} ended with {done.returncode}; its own words are above.")


def remove(environment: Environment) -> None:
    """Every environment, also those of other lock files, and the caches of the tools."""
    for path in (*environment.home.glob("venv-*"), environment.caches):
        if path.exists():
            shutil.rmtree(path)
            print(f"removed {path}")


def main() -> None:
    match sys.argv[1:]:
        case ["--remove"]:
            remove(default_environment())
            return
        case ["--lock", name, *program]:
            environment = default_environment(name)
        case program:
            environment = default_environment()
    try:
        ensure(environment)
    except SetupError as failure:
        sys.exit(str(failure))
    except KeyboardInterrupt:
        sys.exit(130)
    if program:
        os.execvpe(program[0], program, environment.variables(os.environ))


if __name__ == "__main__":
    main()
