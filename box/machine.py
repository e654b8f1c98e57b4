"""The room's side of a node: its power, its cable, and the questions it is asked."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import signal
import sys
from dataclasses import asdict
from typing import Any

from box import cgroups
from box.kube.components import Service
from box.layout import REPOSITORY, BoxError, Layout
from box.network import switch

_LINE_LIMIT = 64 << 20
_NAMESPACES = ("--net", "--mount", "--uts", "--ipc", "--pid", "--fork", "--kill-child", "--propagation", "private")


class Machine:
    """One node."""

    def __init__(self, layout: Layout, name: str) -> None:
        self.layout, self.name = layout, name
        self.connected = True
        self._process: asyncio.subprocess.Process
        self._pid = 0
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self._numbers = itertools.count(1)
        self._off = asyncio.Event()
        self._off.set()
        self._switching = asyncio.Lock()

    @property
    def powered(self) -> bool:
        return not self._off.is_set()

    async def power_on(self, services: tuple[Service, ...]) -> None:
        """Starts the node and its programs; returns when it is set up, which is before they are ready."""
        async with self._switching:
            if self.powered:
                raise BoxError(f"{self.name} is running already")
            await self._start_process()
            try:
                self._pid = int((await self._next_message())["pid"])
                self._reader = asyncio.create_task(self._read_answers())
                switch.plug_in(self.name, self._process.pid)
                await self.ask("boot", services=[asdict(service) for service in services])
                if not self.connected:
                    switch.set_cable(self.name, connected=False)
            except BaseException:
                await self._give_up()
                raise

    async def _start_process(self) -> None:
        # A kubelet spends seconds on each cgroup of a pod that is no more.
        await asyncio.to_thread(cgroups.remove, f"{self.layout.cgroup}/{self.name}")
        cgroups.create(f"{self.layout.cgroup}/{self.name}/sys")
        with (self.layout.logs / self.name / "init.log").open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                "unshare",
                *_NAMESPACES,
                sys.executable,
                "-m",
                "box.node",
                str(self.layout.home),
                self.layout.name,
                self.name,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
                cwd=REPOSITORY,
                limit=_LINE_LIMIT,
            )
        self._pid = 0
        self._off.clear()

    async def _give_up(self) -> None:
        """A start that failed leaves a node without power, not one that nobody can reach."""
        if self.powered:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()  # and with it, by its own wish, the node's first process
            await self._lost_power()

    async def power_off(self) -> None:
        """The power fails: everything on the node is gone at once."""
        if not self.powered or not self._pid:
            raise BoxError(f"{self.name} has no power already")
        os.kill(self._pid, signal.SIGKILL)
        await self._off.wait()

    async def shut_down(self) -> None:
        """A clean end, as an operating system would do it."""
        with contextlib.suppress(asyncio.TimeoutError):
            await self.ask("stop", patience=5.0)
            await asyncio.wait_for(self._off.wait(), 15.0)
        if self.powered:
            await self.power_off()

    def set_cable(self, *, connected: bool) -> None:
        self.connected = connected
        if self.powered:
            switch.set_cable(self.name, connected=connected)

    async def run(self, argv: list[str], timeout: float) -> dict[str, Any]:
        """Runs a command inside the node."""
        answer: dict[str, Any] = await self.ask("run", argv=argv, timeout=timeout, patience=timeout + 10.0)
        return answer

    async def ask(self, op: str, *, patience: float = 60.0, **arguments: Any) -> Any:
        if not self.powered or self._process.stdin is None:
            start = self.layout.command(f"node start {self.name}")
            raise BoxError(f"{self.name} has no power. Start it with: {start}")
        number = next(self._numbers)
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._answers[number] = answer
        self._process.stdin.write(json.dumps({"id": number, "op": op, **arguments}).encode() + b"\n")
        try:
            return await asyncio.wait_for(answer, patience)
        finally:
            self._answers.pop(number, None)

    async def _read_answers(self) -> None:
        try:
            while True:
                self._pass_on(await self._next_message())
        except EOFError:
            pass
        except (ValueError, OSError):  # a node that cannot be talked to is of no use
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
        await self._lost_power()

    def _pass_on(self, message: dict[str, Any]) -> None:
        answer = self._answers.get(message["id"])
        if answer is None or answer.done():
            return
        if "error" in message:
            answer.set_exception(BoxError(message["error"]))
        else:
            answer.set_result(message["result"])

    async def _next_message(self) -> dict[str, Any]:
        line = await self._process.stdout.readline() if self._process.stdout else b""
        if not line:
            raise EOFError(f"{self.name} ended at once. See: box logs init@{self.name}")
        message: dict[str, Any] = json.loads(line)
        return message

    async def _lost_power(self) -> None:
        await self._process.wait()
        switch.unplug(self.name)
        self._pid = 0
        self._off.set()
        for answer in self._answers.values():
            if not answer.done():
                answer.set_exception(BoxError(f"{self.name} lost its power meanwhile"))
