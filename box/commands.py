"""What each command of the box does, from its arguments to what it prints."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from argparse import Namespace
from pathlib import Path

from box import cgroups, control, lifecycle, places, preflight, resource_usage, settings
from box.containerd import NAMESPACE, TRIES, import_arguments, was_swept
from box.image import image_store, images
from box.kube import cluster_dns
from box.kube.api import Api
from box.layout import CONTROL_PLANE, BoxError, Layout
from box.network import faults
from box.network.forwarder import ALL
from box.settings import Settings
from box.storage import azure, objectstore
from box.toolchain import builds, debian, tools


def say(text: str) -> None:
    print(text, flush=True)


# life


def up(layout: Layout, chosen: Namespace) -> None:
    already = lifecycle.running(layout) and not chosen.fresh
    options = {name: getattr(chosen, name) for name in ("nodes", "kubernetes", "tolerate")}
    asked = {name: value for name, value in options.items() if value is not None}
    lifecycle.up(layout, asked, fresh=chosen.fresh, say=say)
    if already:
        say("the box was up already; nothing was changed")
    else:
        name = "" if layout.name == "box" else f" --name {layout.name}"
        say(f'the box is up. For this shell: eval "$({shlex.quote(sys.argv[0])}{name} env)"')


def down(layout: Layout, chosen: Namespace) -> None:
    lifecycle.down(layout, purge=chosen.purge, say=say)


def set_up(layout: Layout, chosen: Namespace) -> int:
    lacking = debian.missing()
    if chosen.check:
        say(f"missing: {', '.join(package.name for package in lacking)}" if lacking else "all packages are installed")
        return 1 if lacking else 0
    preflight.check(layout)
    debian.install(say=say)
    return 0


def build(layout: Layout, chosen: Namespace) -> None:
    if not chosen.list:
        preflight.check(layout)
    else:
        for tool in tools.TOOLS:
            state = "to be built" if builds.missing(layout, [tool.name]) else "built"
            say(f"{tool.name:16} {tool.version:10} {state:12} {tool.purpose}")
        return
    begun = time.monotonic()
    builds.ensure(layout, chosen.tools or tools.default_tools(), say=say)
    if not chosen.tools:
        image_store.ensure_images(layout, say=say)
        azure.ensure(layout, say)
    say(f"everything is built ({time.monotonic() - begun:.0f} s)")


# looking


def status(layout: Layout, _: Namespace) -> int:
    if lifecycle.room_pid(layout) is None:
        say(f"the box is down. Start it with: {layout.command('up')}")
        return 1
    told = control.call(layout, "status")
    chosen = settings.load(layout) or Settings()
    say(f"box '{layout.name}', Kubernetes {chosen.kubernetes}, kubeconfig {layout.kubeconfig}")
    for name, node in told["nodes"].items():
        power = "on" if node["power"] else "off"
        cable = "" if node["cable"] else ", cable pulled"
        parts = [_service_text(service, entry) for service, entry in node["services"].items()]
        say(f"  {name:4} {power}{cable}  {', '.join(parts)}")
    say(f"  beside the nodes: {', '.join(told['programs'])}")
    for line in (*told["faults"], *objectstore.set_faults(layout), *told["failures"]):
        say(f"  ! {line}")
    return 0


def _service_text(name: str, entry: dict[str, object]) -> str:
    notes = [] if entry["state"] == "running" else [str(entry["state"])]
    if entry["restarts"]:
        notes.append(f"restarted {entry['restarts']} times")
    return f"{name} ({', '.join(notes)})" if notes else name


def kubeconfig(layout: Layout, _: Namespace) -> None:
    _must_run(layout)
    say(str(layout.kubeconfig))


def env(layout: Layout, _: Namespace) -> None:
    _must_run(layout)
    folder = _kubectl(layout).parent
    say(f"export KUBECONFIG={shlex.quote(str(layout.kubeconfig))}")
    say(f"export PATH={shlex.quote(str(folder))}:$PATH")


def kubectl(layout: Layout, chosen: Namespace) -> None:
    _must_run(layout)
    environment = {**os.environ, "KUBECONFIG": str(layout.kubeconfig)}
    program = _kubectl(layout)
    os.execve(program, ["kubectl", *chosen.arguments], environment)


def run(layout: Layout, chosen: Namespace) -> None:
    arguments = _program(chosen.arguments)
    pid = lifecycle.room_pid(layout)
    if pid is None:
        raise BoxError(f"the box is down. Start it with: {layout.command('up')}")
    environment = {**os.environ, "KUBECONFIG": str(layout.inner_kubeconfig)}
    cgroups.join(f"{layout.cgroup}/room")  # so that it ends with the box, whose network it holds
    inside = ["nsenter", f"--net=/proc/{pid}/ns/net", "--", "unshare", "--mount", "--propagation", "private"]
    names = layout.state / "resolv.conf"
    names.write_text(cluster_dns.resolv_conf())
    with_names = ["sh", "-c", 'mount --bind "$0" "$(readlink -f /etc/resolv.conf)"; exec "$@"', str(names)]
    os.execvpe("nsenter", [*inside, *with_names, *arguments], environment)


def logs(layout: Layout, chosen: Namespace) -> int:
    found = {_component(path): path for path in sorted(layout.logs.glob("*/*.log"))}
    if not found:
        raise BoxError(f"this box has no logs yet. Start it with: {layout.command('up')}")
    if not chosen.component:
        for name, path in found.items():
            say(f"{name:24} {path.stat().st_size >> 10:7} kB  {path}")
        return 0
    name = places.component(chosen.component).label
    if name not in found:
        raise BoxError(f"there is no log of '{chosen.component}'. There are: {', '.join(found) or 'none yet'}")
    lines = ["-n", str(chosen.lines) if chosen.lines else "+1"]
    follow = ["-F"] if chosen.follow else []
    ended = subprocess.run(["tail", *lines, *follow, str(found[name])], check=False).returncode
    return 0 if ended == -signal.SIGPIPE else ended  # the reader had enough


def usage(layout: Layout, chosen: Namespace) -> None:
    _must_run(layout)
    for line in resource_usage.report(layout, chosen.seconds):
        say(line)


def _component(log: Path) -> str:
    node = log.parent.name
    return log.stem if node in ("room", "cp") else f"{log.stem}@{node}"


# breaking


def node(layout: Layout, chosen: Namespace) -> None:
    control.call(layout, "node", name=chosen.node, action=chosen.node_action)
    done = {
        "stop": "was shut down",
        "start": "is starting",
        "kill": "lost its power",
        "cut": "has its cable pulled",
        "join": "has its cable plugged in",
    }
    say(f"{chosen.node} {done[chosen.node_action]}")


def node_run(layout: Layout, chosen: Namespace) -> int:
    arguments = _program(chosen.arguments)
    code, output = control.run_in_node(layout, chosen.node, arguments, timeout=600.0)
    sys.stdout.write(output)
    return code


def net_cut(layout: Layout, chosen: Namespace) -> None:
    chosen.percent = 100.0
    net_loss(layout, chosen)


def net_loss(layout: Layout, chosen: Namespace) -> None:
    api = Api.from_kubeconfig(layout.kubeconfig)
    nodes = _nodes(layout)
    a, b = places.resolve(api, chosen.a, nodes=nodes), places.resolve(api, chosen.b, nodes=nodes)
    if a == b or not chosen.percent:
        raise BoxError("that loses no packet: two different places are needed, and more than 0 percent")
    pair = faults.between(a=a.addresses, b=b.addresses, percent=chosen.percent, one_way=chosen.one_way)
    control.call(layout, "net.fault", a=a.addresses, b=b.addresses, percent=chosen.percent, one_way=chosen.one_way)
    for fault in pair:
        say(fault.describe())


def net_delay(layout: Layout, chosen: Namespace) -> None:
    place = places.resolve(Api.from_kubeconfig(layout.kubeconfig), chosen.a, nodes=_nodes(layout))
    if not place.node:
        raise BoxError(f"{chosen.a} is neither a pod nor a node, only these can be delayed")
    address = ALL if place.is_node else place.addresses[0]
    control.call(layout, "net.delay", node=place.node, address=address, milliseconds=chosen.milliseconds)
    say(f"packets from and to {chosen.a} take {chosen.milliseconds:g} ms longer each way")


def net_heal(layout: Layout, _: Namespace) -> None:
    control.call(layout, "net.heal")
    say("no losses, cuts or delays any more")


def component(layout: Layout, chosen: Namespace) -> None:
    target = places.component(chosen.component)
    control.call(layout, "component", name=target.name, node=target.node, action=chosen.component_action)
    done = {"pause": "is frozen", "resume": "goes on", "restart": "is being restarted"}
    say(f"{target.label} {done[chosen.component_action]}")


# images


def image_build(layout: Layout, chosen: Namespace) -> None:
    preflight.check(layout)
    debian.install(say=say)
    before = {image.tar: image.fingerprint for image in map(images.describe, images.tars(layout))}
    image_store.ensure_images(layout, chosen.images or None, say=say)
    changed = [tar for tar in images.tars(layout) if before.get(tar) != images.describe(tar).fingerprint]
    _load_into_nodes(layout, changed)


def image_load(layout: Layout, chosen: Namespace) -> None:
    for file in chosen.files:
        if not Path(file).is_file():
            raise BoxError(f"there is no file {file}")
    loaded = [images.register(layout, Path(file)) for file in chosen.files]
    image_store.ensure_images(layout, [], say=say)
    _load_into_nodes(layout, loaded)


def image_list(layout: Layout, _: Namespace) -> None:
    for tar in images.tars(layout):
        for name in images.describe(tar).names:
            say(f"{name:56} {tar.stat().st_size >> 20:5} MB")


def _load_into_nodes(layout: Layout, tars: list[Path]) -> None:
    if not tars or not lifecycle.running(layout):
        return
    nodes = control.call(layout, "status")["nodes"]
    for name in [name for name, entry in nodes.items() if entry["power"] and name != "cp"]:
        for tar in tars:
            _load(layout, name, tar)
        say(f"{len(tars)} image{'s' if len(tars) > 1 else ''} loaded into {name}")


def _load(layout: Layout, node: str, tar: Path) -> None:
    argv = ["ctr", "--namespace", NAMESPACE, *import_arguments(tar)]
    for left in reversed(range(TRIES)):
        code, output = control.run_in_node(layout, node, argv, timeout=300.0)
        if code == 0:
            return
        if not left or not was_swept(output):
            raise BoxError(f"{tar.name} could not be loaded into {node}: {output.strip()}")


# all of them


def _kubectl(layout: Layout) -> Path:
    chosen = settings.load(layout)
    program = Path(chosen.kubernetes_folder if chosen else "", "kubectl")
    if not program.exists():
        raise BoxError(f"{program} is gone since the box was started. Start it again: box down, box up")
    return program


def _must_run(layout: Layout) -> None:
    if lifecycle.room_pid(layout) is None:
        raise BoxError(f"the box is down. Start it with: {layout.command('up')}")


def _nodes(layout: Layout) -> tuple[str, ...]:
    chosen = settings.load(layout)
    return (CONTROL_PLANE, *(chosen.workers if chosen else ()))


def _program(arguments: list[str]) -> list[str]:
    if not arguments:
        raise BoxError("which program? It follows after --, for instance: -- ip addr")
    if not shutil.which(arguments[0]):
        raise BoxError(f"there is no program '{arguments[0]}' here")
    return arguments
