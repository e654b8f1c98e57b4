"""Programs that run in the room itself, beside the nodes: relay, provisioner, object storage, delays."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from dataclasses import dataclass, field

from box.layout import REPOSITORY, BoxError, Layout

_RESTART_AFTER = 1.0


@dataclass(frozen=True)
class Child:
    """A program to keep running."""

    name: str
    argv: tuple[str, ...]
    environment: dict[str, str] = field(default_factory=dict)
    descriptors: tuple[int, ...] = ()


class Children:
    """Starts them, restarts what ends, and ends them on request."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._keepers: dict[str, asyncio.Task[None]] = {}
        self._processes: dict[str, asyncio.subprocess.Process] = {}
        self._paused: set[str] = set()

    def keep(self, child: Child) -> None:
        """Keeps the child running; one that runs already is left alone."""
        if child.name not in self._keepers:
            self._keepers[child.name] = asyncio.create_task(self._keep(child))

    async def end(self, name: str) -> None:
        keeper = self._keepers.pop(name, None)
        if keeper is None:
            return
        keeper.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await keeper

    def describe(self) -> list[str]:
        """The children by name, with a word about those that do not run."""
        states = {name: "waiting" for name in self._keepers if name not in self._processes}
        states |= dict.fromkeys(self._paused, "paused")
        return [f"{name} ({states[name]})" if name in states else name for name in sorted(self._keepers)]

    def tell(self, name: str, action: str) -> None:
        """Pauses, resumes or restarts a child."""
        process = self._processes.get(name)
        if process is None:
            beside = ", ".join(sorted(self._processes))
            raise BoxError(f"'{name}' is not running. Beside the nodes there are: {beside}; see also: box --help")
        if action == "restart":
            process.terminate()
        process.send_signal(signal.SIGSTOP if action == "pause" else signal.SIGCONT)
        (self._paused.add if action == "pause" else self._paused.discard)(name)

    async def _keep(self, child: Child) -> None:
        folder = self._layout.logs / "room"
        folder.mkdir(parents=True, exist_ok=True)
        while True:
            with (folder / f"{child.name}.log").open("ab") as log:
                try:
                    process = await asyncio.create_subprocess_exec(
                        *child.argv,
                        stdin=asyncio.subprocess.DEVNULL,
                        stdout=log,
                        stderr=log,
                        cwd=REPOSITORY,
                        env={**os.environ, **child.environment},
                        pass_fds=child.descriptors,
                        start_new_session=True,
                    )
                except OSError as error:
                    log.write(f"--- cannot be started: {error}\n".encode())
                    await asyncio.sleep(5 * _RESTART_AFTER)
                    continue
                self._processes[child.name] = process
                try:
                    code = await process.wait()
                except asyncio.CancelledError:
                    await _finish(process)
                    raise
                finally:
                    self._processes.pop(child.name, None)
                log.write(f"--- ended with code {code}\n".encode())
            await asyncio.sleep(_RESTART_AFTER)


async def _finish(process: asyncio.subprocess.Process) -> None:
    if process.returncode is not None:
        return
    process.terminate()
    process.send_signal(signal.SIGCONT)
    try:
        await asyncio.wait_for(process.wait(), 3.0)
    except TimeoutError:
        process.kill()
        await process.wait()
