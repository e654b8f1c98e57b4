"""Running the go command: which one, how far it is, and whose fault a failure is.

A failed download is worth another try and a compile error is not, but go ends with the same status for both;
only its output tells them apart.
"""

from __future__ import annotations

import functools
import os
import re
import selectors
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from box.layout import BoxError
from box.toolchain.downloads import DownloadError, last_lines

HOW_TO_GET_GO = (
    "install a current Go release and put its bin folder into PATH "
    "(a Go of 1.21 or newer fetches the right one itself with GOTOOLCHAIN=auto)"
)

# Of the network, of a proxy in between, of a module server that is down.
DOWNLOAD_FAILURE = re.compile(
    r"dial tcp|i/o timeout|connection re(?:set|fused)|TLS handshake|unexpected EOF|no such host|server misbehaving"
    r"|network is unreachable|context deadline exceeded|Client\.Timeout|http2: |: 5\d\d [A-Z]|429 Too Many"
    r"|proxyconnect|stream error|Temporary failure"
)


@dataclass(frozen=True)
class Go:
    program: str
    identity: str  # `go1.26.8 linux/amd64`: with the sources and the flags it decides what comes out

    def environment(self) -> dict[str, str]:
        return {**os.environ, "CGO_ENABLED": "0", "GOWORK": "off"}


def find_go(folder: Path) -> Go:
    """The go command for the module in `folder`, checked against the version its go.mod asks for."""
    # Root's PATH often lacks the folder that Go's own instructions install it to.
    program = shutil.which("go") or shutil.which("go", path="/usr/local/go/bin")
    if not program:
        raise BoxError(f"The go command is missing: {HOW_TO_GET_GO}.")
    wanted = required_version(folder / "go.mod")
    answer = _go_identity(program, folder)
    if not answer or _numbers(answer) < _numbers(wanted):
        raise BoxError(f"Go {wanted} or newer is needed, {program} is {answer or 'older'}: {HOW_TO_GET_GO}.")
    return Go(program, answer)


@functools.cache
def _go_identity(program: str, folder: Path) -> str:
    """Empty when this go refuses the module as too new for it."""
    command = [program, "env", "GOVERSION", "GOOS", "GOARCH"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    words = done.stdout.split()
    return f"{words[0]} {words[1]}/{words[2]}" if done.returncode == 0 and len(words) == 3 else ""


def required_version(modfile: Path) -> str:
    found = re.search(r"^go (\S+)$", modfile.read_text(), re.MULTILINE)
    return found.group(1) if found else "1.21"


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(n) for n in re.findall(r"\d+", version.split(maxsplit=1)[0])[:2])


def is_download_failure(output: str) -> bool:
    # A checksum that differs is never tried again: it is the one failure that must not go away by itself.
    return bool(DOWNLOAD_FAILURE.search(output)) and "checksum mismatch" not in output


def run_go(go: Go, arguments: list[str], *, folder: Path, watch: Callable[[str | None], None]) -> str:
    """Runs go and returns its standard output; `watch` gets every line of its messages, and None once a second."""
    # go dies with this process: left alone, it would write into the folder that the next build has taken over.
    command = ["setpriv", "--pdeathsig", "KILL", go.program, *arguments]
    pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
    with subprocess.Popen(
        command, cwd=folder, env=go.environment(), stdin=nothing, stdout=pipe, stderr=pipe
    ) as process:
        try:
            output, messages = _follow(process, watch)
        except BaseException:
            process.kill()
            raise
    if process.returncode == 0:
        return output
    if is_download_failure(messages):
        raise DownloadError(last_lines(messages, 1))
    raise BoxError(f"`go {arguments[0]}` in {folder} failed, and it would again:\n{last_lines(messages, 20)}")


def _follow(process: subprocess.Popen[bytes], watch: Callable[[str | None], None]) -> tuple[str, str]:
    assert process.stdout and process.stderr
    collected = {process.stdout.fileno(): bytearray(), process.stderr.fileno(): bytearray()}
    messages = process.stderr.fileno()
    shown = 0
    with selectors.DefaultSelector() as selector:
        for descriptor in collected:
            selector.register(descriptor, selectors.EVENT_READ)
        while selector.get_map():
            for key, _ in selector.select(timeout=1.0):
                chunk = os.read(key.fd, 65536)
                if not chunk:
                    selector.unregister(key.fd)
                collected[key.fd] += chunk
            end = collected[messages].rfind(b"\n") + 1
            if end > shown:
                for line in collected[messages][shown:end].decode(errors="replace").splitlines():
                    watch(line)
                shown = end
            watch(None)
    output, text = (collected[f].decode(errors="replace") for f in collected)
    return output, text
