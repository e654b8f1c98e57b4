"""The command line of the box: which commands there are, and what each is told to do."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from box import commands
from box.layout import MAX_WORKERS, BoxError, default_layout
from box.settings import KUBERNETES_TOLERATION, KUBERNETES_VERSIONS
from box.storage import commands as storage_commands
from box.toolchain.debian import SYSTEM_PATH

if TYPE_CHECKING:
    from box.storage.commands import Commands

_DESCRIPTION = """A real Kubernetes on one Linux machine, for demos, tests and benchmarks.

API server, scheduler, controller manager, and on every node kubelet, kube-proxy, containerd
and runc: the real programs, in namespaces of their own. The host's network, sysctls and
mounts stay as they are, and no packet leaves."""

_EPILOG = """Names of components, for `logs`, `pause`, `resume` and `restart`:
  etcd, apiserver, controller-manager, scheduler      on the control plane
  kubelet@w1, containerd@w1, proxy@w1                 on a worker
  relay, provisioner, s3, s3-faults, ...              beside the nodes (and `logs room`)

A first look:
  box up                          three workers, ready in about 10 seconds once built
  eval "$(box env)"               kubectl and its configuration for this shell
  kubectl get nodes
  box node kill w2                a power failure; `box node start w2` brings it back
  box net cut default/a default/b two pods that no longer hear each other; `box net heal`
  box down

Files are below $BOX_HOME (default: etcd-operator in the user's cache folder), a folder for boxes
alone. Several can run side by side under different names (--name or $BOX_NAME)."""

_PLACE = "a pod as [NAMESPACE/]NAME, a node such as w1, or an address"


def main(arguments: list[str]) -> int:
    os.environ["PATH"] = f"{os.environ.get('PATH', '')}:{SYSTEM_PATH}"  # root's own may lack the sbin folders
    chosen = parse(arguments)
    try:
        layout = default_layout()
        if chosen.name:
            layout = replace(layout, name=chosen.name)
        action: Callable[..., int | None] = chosen.action
        return action(layout, chosen) or 0
    except BoxError as error:
        print(f"box: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nbox: interrupted; `up` goes on where it was, `down` removes it", file=sys.stderr)
        return 130
    except BrokenPipeError:
        return 0
    except (OSError, subprocess.SubprocessError) as error:
        print(f"box: {error}", file=sys.stderr)
        return 1


def _wide(prog: str) -> argparse.HelpFormatter:
    return argparse.RawDescriptionHelpFormatter(prog, max_help_position=17, width=96)


def parse(arguments: list[str]) -> argparse.Namespace:
    ours, theirs = _split(arguments)
    chosen = parser().parse_args(ours)
    chosen.arguments = theirs
    return chosen


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(
        prog="box",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=_wide,
        allow_abbrev=False,
    )
    top.add_argument("--name", help="which box, if there are several (default: $BOX_NAME or 'box')")
    commands_of_box = top.add_subparsers(metavar="COMMAND", required=True, title="commands")
    _life(commands_of_box)
    _look(commands_of_box)
    _break(commands_of_box)
    _content(commands_of_box)
    return top


def _split(arguments: list[str]) -> tuple[list[str], list[str]]:
    """What is for the box, and what is for the program that it runs, whose options are none of ours."""
    start = 0
    while arguments[start : start + 1] and arguments[start].startswith("--name"):
        start += 1 if "=" in arguments[start] else 2
    for words, operands in ((["kubectl"], 0), (["run"], 0), (["node", "run"], 1)):
        end = start + len(words)
        if arguments[start:end] == words and (words == ["kubectl"] or arguments[end:][:1] not in (["-h"], ["--help"])):
            rest = arguments[end + operands :]
            return arguments[: end + operands], rest[1:] if rest[:1] == ["--"] else rest
    return arguments, []


def _add(top: Commands, name: str, action: Callable[..., int | None] | None, text: str) -> argparse.ArgumentParser:
    parser = top.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
    if action:
        parser.set_defaults(action=action)
    return parser


def _group(top: Commands, name: str, text: str) -> Commands:
    parser = top.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
    return parser.add_subparsers(metavar="COMMAND", required=True, title="commands")


def _life(top: Commands) -> None:
    up = _add(top, "up", commands.up, "bring the box up and return when all nodes and DNS are ready")
    up.add_argument(
        "--nodes", type=_worker_count, metavar="N", help="workers, 1 to 9 (3 when the box is new; later as it was)"
    )
    up.add_argument(
        "--tolerate",
        type=_count,
        metavar="SECONDS",
        help=f"how long pods stay on a lost node ({KUBERNETES_TOLERATION} when the box is new, as Kubernetes)",
    )
    up.add_argument(
        "--kubernetes",
        choices=KUBERNETES_VERSIONS,
        help=f"which version ({KUBERNETES_VERSIONS[0]} when the box is new)",
    )
    up.add_argument(
        "--fresh",
        action="store_true",
        help="an empty cluster, also if the box is up; otherwise what was in it comes back",
    )
    down = _add(top, "down", commands.down, "remove the box: every process, mount, namespace, cgroup and route of it")
    down.add_argument("--purge", action="store_true", help="also drop its data, and the builds and images of all boxes")
    setup = _add(top, "setup", commands.set_up, "install the Debian packages that the box needs")
    setup.add_argument("--check", action="store_true", help="only say what is missing")
    build = _add(top, "build", commands.build, "build what the box runs: programs, images, the Azure server")
    build.add_argument("tools", nargs="*", metavar="TOOL", help="only these programs (default: all of it)")
    build.add_argument("--list", action="store_true", help="say what there is and whether it is built")


def _look(top: Commands) -> None:
    _add(top, "status", commands.status, "say what runs, what does not, and which faults are set")
    _add(top, "kubeconfig", commands.kubeconfig, "print the path of the kubeconfig")
    _add(top, "env", commands.env, 'print lines for the shell: eval "$(box env)"')
    kubectl = _add(top, "kubectl", commands.kubectl, "run kubectl on the box")
    kubectl.usage = "box kubectl [ARGUMENT ...]"
    run = _add(top, "run", commands.run, "run a program inside the box's network, where pods and services are reached")
    run.usage = "box run [--] PROGRAM [ARGUMENT ...]"
    logs = _add(top, "logs", commands.logs, "show the log of a component, or list the components")
    logs.add_argument("component", nargs="?", help="such as apiserver or kubelet@w1")
    logs.add_argument("-f", "--follow", action="store_true", help="go on as it grows")
    logs.add_argument("-n", "--lines", type=_count, default=0, metavar="N", help="only the last N lines")
    usage = _add(top, "usage", commands.usage, "measure memory and CPU of the box over a while")
    usage.add_argument("--seconds", type=_count, default=30, help="how long to watch the CPU (default 30)")


def _break(top: Commands) -> None:
    node = _group(top, "node", "nodes: power and cable")
    for name, text in (
        ("stop", "shut a node down cleanly"),
        ("start", "start a node that is off"),
        ("kill", "power failure: everything on the node is gone at once"),
        ("cut", "pull the node's network cable"),
        ("join", "plug the node's network cable in again"),
    ):
        _add(node, name, commands.node, text).add_argument("node", metavar="NAME")
        node.choices[name].set_defaults(node_action=name)
    inside = _add(node, "run", commands.node_run, "run a command inside a node, and print what it says")
    inside.usage = "box node run NAME [--] COMMAND [ARGUMENT ...]"
    inside.add_argument("node", metavar="NAME")
    net = _group(top, "net", "network faults between pods ([NAMESPACE/]NAME), nodes or addresses")
    loss = _add(net, "loss", commands.net_loss, "lose a part of the packets between A and B")
    cut = _add(net, "cut", commands.net_cut, "lose all packets between A and B")
    for parser in (loss, cut):
        parser.add_argument("a", metavar="A", help=_PLACE)
        parser.add_argument("b", metavar="B", help="likewise")
        parser.add_argument("--one-way", action="store_true", help="only from A to B")
    loss.add_argument("percent", type=_percent, metavar="PERCENT", help="0 to 100, each way")
    delay = _add(net, "delay", commands.net_delay, "delay packets from and to A, each way")
    delay.add_argument("a", metavar="A", help="a pod as [NAMESPACE/]NAME, or a node such as w1")
    delay.add_argument("milliseconds", type=_milliseconds, metavar="MS", help="0 to 60000; 0 ends it")
    _add(net, "heal", commands.net_heal, "end all losses, cuts and delays")
    for name, text in (
        ("pause", "freeze a component (SIGSTOP)"),
        ("resume", "let a paused component go on"),
        ("restart", "end a component and start it again"),
    ):
        _add(top, name, commands.component, text).add_argument("component", metavar="COMPONENT")
        top.choices[name].set_defaults(component_action=name)


def _content(top: Commands) -> None:
    image = _group(top, "image", "images, without a registry")
    build = _add(image, "build", commands.image_build, "make the project's images, and load them into running nodes")
    build.add_argument("images", nargs="*", metavar="NAME", help="only these (default: all)")
    load = _add(image, "load", commands.image_load, "load an image file (docker or OCI archive) into the box")
    load.add_argument("files", nargs="+", metavar="FILE")
    _add(image, "list", commands.image_list, "list the images that pods can use")
    s3 = _group(top, "s3", "the S3 server, which starts when it is first asked for")
    storage_commands.add_s3(s3, _add)
    azure = _group(top, "azure", "the Azure blob server, which starts when it is first asked for")
    storage_commands.add_azure(azure, _add)


def _worker_count(text: str) -> int:
    if not text.isdigit() or not 1 <= int(text) <= MAX_WORKERS:
        raise argparse.ArgumentTypeError(f"1 to {MAX_WORKERS} workers, not {text}")
    return int(text)


def _count(text: str) -> int:
    if not text.isdigit():
        raise argparse.ArgumentTypeError(f"a number, not {text}")
    return int(text)


def _percent(text: str) -> float:
    return _number(text, "percent", 100.0)


def _milliseconds(text: str) -> float:
    return _number(text, "milliseconds", 60_000.0)


def _number(text: str, unit: str, most: float) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= most:
        raise argparse.ArgumentTypeError(f"0 to {most:g} {unit}, not {text}")
    return value
