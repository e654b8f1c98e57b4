"""The room: the first process of a box, under which everything else of it runs.

It has a PID, mount and network namespace of its own. Its network namespace is the switch between the nodes; when it
ends, so does every process, mount and interface of the box.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from box import cgroups, control, nodefs, settings
from box.children import Child, Children
from box.image import image_store
from box.kube import cluster_dns, components
from box.kube.components import Programs, Service
from box.layout import CONTROL_PLANE, BoxError, Layout
from box.machine import Machine
from box.network import faults, switch
from box.network.delays import Delays
from box.storage import objectstore


class Room:
    """All nodes and programs of one box."""

    def __init__(self, layout: Layout, chosen: settings.Settings) -> None:
        self.layout, self.settings = layout, chosen
        self.children = Children(layout)
        self.machines = {name: Machine(layout, name) for name in (CONTROL_PLANE, *chosen.workers)}
        self.delays = Delays(layout, self.children)
        self.faults: tuple[faults.Fault, ...] = ()
        self.failures: list[str] = []
        self._programs = Programs(Path(chosen.kubernetes_folder), Path(chosen.etcd_program))

    async def open(self, relay: int) -> None:
        switch.switch_on()
        objectstore.heal(self.layout)  # a fault is for the run in which it was asked for
        self.children.keep(
            Child("relay", (sys.executable, "-m", "box.network.relay", str(relay)), descriptors=(relay,))
        )
        starts = [self._start(name) for name in self.machines]
        for name, outcome in zip(self.machines, await asyncio.gather(*starts, return_exceptions=True), strict=True):
            if isinstance(outcome, BaseException):
                self.failures.append(f"{name} did not start: {outcome}")
        provisioner = (sys.executable, "-m", "box.volume.provisioner", str(self.layout.home), self.layout.name)
        self.children.keep(Child("provisioner", provisioner))

    async def answer(self, message: dict[str, Any]) -> Any:
        request = message.pop("request")
        handlers: dict[str, Callable[..., Awaitable[Any]]] = {
            "ping": self.ping,
            "status": self.status,
            "dns": self.dns,
            "node": self.node,
            "node.run": self.node_run,
            "room.run": self.room_run,
            "component": self.component,
            "net.fault": self.net_fault,
            "net.delay": self.net_delay,
            "net.heal": self.net_heal,
            "keep": self.keep,
        }
        if request not in handlers:
            raise BoxError(f"this box runs an older or newer version and cannot '{request}'. Try: box down; box up")
        return await handlers[request](**message)

    # what it is asked

    async def ping(self) -> None:
        return None

    async def status(self) -> dict[str, Any]:
        nodes = {}
        for name, machine in self.machines.items():
            services = await machine.ask("services") if machine.powered else {}
            nodes[name] = {"power": machine.powered, "cable": machine.connected, "services": services}
        return {
            "nodes": nodes,
            "programs": self.children.describe(),
            "faults": [fault.describe() for fault in self.faults] + self.delays.describe(),
            "failures": self.failures,
        }

    async def dns(self) -> bool:
        return await asyncio.to_thread(cluster_dns.answers)

    async def node(self, name: str, action: str) -> None:
        machine = self._machine(name)
        if action == "start":
            await self._start(name)
        elif action == "stop":
            await machine.shut_down()
        elif action == "kill":
            await machine.power_off()
        elif action in ("cut", "join"):
            machine.set_cable(connected=action == "join")
        else:
            raise BoxError(f"a node cannot be told to '{action}'")
        self._route_services()

    async def node_run(self, node: str, argv: list[str], limit: float) -> dict[str, Any]:
        return await self._machine(node).run(argv, limit)

    async def room_run(self, argv: list[str], limit: float) -> dict[str, Any]:
        process = await asyncio.create_subprocess_exec(
            *argv,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        try:
            output, _ = await asyncio.wait_for(process.communicate(), limit)
        except TimeoutError:
            process.kill()
            raise BoxError(f"{argv[0]} did not end within {limit:.0f} s") from None
        return {"code": process.returncode, "output": output.decode(errors="replace")}

    async def component(self, name: str, node: str, action: str) -> None:
        if node:
            await self._machine(node).ask("service", name=name, action=action)
        else:
            self.children.tell(name, action)

    async def net_fault(self, a: list[str], b: list[str], percent: float, one_way: bool) -> None:
        added = faults.between(a=tuple(a), b=tuple(b), percent=percent, one_way=one_way)
        if not any(faults.stands_on(name, fault) for name in self.machines for fault in added):
            raise BoxError("no packet would be lost: name pods, nodes, or addresses and ranges of one node")
        before, self.faults = self.faults, (*self.faults, *added)
        try:
            await self._apply_faults()
        except BoxError:
            self.faults = before
            raise

    async def net_delay(self, node: str, address: str, milliseconds: float) -> None:
        if not self._machine(node).powered:
            raise BoxError(f"{node} has no power, so it has no packets to delay")
        await self.delays.set(node, address=address, milliseconds=milliseconds)

    async def net_heal(self) -> None:
        self.faults = ()
        await self._apply_faults()
        await self.delays.clear()

    async def keep(self, children: list[dict[str, Any]]) -> None:
        for entry in children:
            self.children.keep(Child(**entry))

    # how it does it

    def _machine(self, name: str) -> Machine:
        if name not in self.machines:
            raise BoxError(f"there is no node '{name}', there are: {', '.join(self.machines)}")
        return self.machines[name]

    def _services(self, name: str) -> tuple[Service, ...]:
        if name == CONTROL_PLANE:
            return components.control_plane(self.layout, self.settings, self._programs)
        return components.worker(self.layout, name, self._programs)

    async def _start(self, name: str) -> None:
        machine = self._machine(name)
        await asyncio.to_thread(self._prepare_disk, name)
        await machine.power_on(self._services(name))
        await self._apply_faults(name)
        await self.delays.reconnect(name)
        self._route_services()

    def _prepare_disk(self, name: str) -> None:
        files = {} if name == CONTROL_PLANE else components.worker_files(self.layout, name)
        nodefs.prepare(self.layout, name, files)
        images = self.layout.node(name) / "var/lib/containerd"
        if name != CONTROL_PLANE and not any(images.iterdir()):
            image_store.copy_to(self.layout, images, say=print)

    async def _apply_faults(self, *names: str) -> None:
        for name in names or self.machines:
            if not self.machines[name].powered:
                continue
            script = self.layout.node(name) / "faults.nft"
            script.write_text(faults.ruleset(name, self.faults))
            done = await self.machines[name].run(["nft", "-f", str(script)], 10.0)
            if done["code"]:
                raise BoxError(f"the fault could not be set on {name}: {' '.join(done['output'].split())}")

    def _route_services(self) -> None:
        running = [name for name in self.settings.workers if self.machines[name].powered]
        connected = [name for name in running if self.machines[name].connected]
        if connected:
            switch.services_through(connected[0])


async def _serve(room: Room, relay: int) -> None:
    async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        reply: dict[str, Any]
        try:
            reply = {"result": await room.answer(json.loads(await reader.readline()))}
        except BoxError as error:
            reply = {"error": str(error)}
        except Exception as error:  # one request must not end the box
            reply = {"error": f"the box failed at this: {error!r}. See: box logs room"}
        writer.write(json.dumps(reply).encode())
        writer.close()

    os.umask(0o077)
    room.layout.control.unlink(missing_ok=True)
    with control.short_path(room.layout) as path:
        server = await asyncio.start_unix_server(converse, path=path, limit=16 << 20)
    os.umask(0o022)
    await room.open(relay)
    await server.serve_forever()


def main(arguments: list[str]) -> None:
    home, name, relay = arguments
    layout = Layout(Path(home), name)
    cgroups.join(f"{layout.cgroup}/room")
    # /proc is still the host's, and so is the number it knows this process by.
    (layout.state / "room.pid").write_text(os.readlink("/proc/self"))
    subprocess.run(["mount", "-t", "proc", "proc", "/proc"], check=True)
    chosen = settings.load(layout)
    if chosen is None:
        raise BoxError(f"{layout.settings} cannot be read")
    asyncio.run(_serve(Room(layout, chosen), int(relay)))


if __name__ == "__main__":
    main(sys.argv[1:])
