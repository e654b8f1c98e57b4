"""The network of a box: one switch in the room, one cable to each node, and no cable to anywhere else.

Nodes are routed, not masqueraded: a pod is seen under its own address everywhere, so a rule about two addresses is a
rule about two pods. What is not of the box gets `unreachable` from the switch, at once.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

from box.layout import (
    CONTROL_PLANE,
    MAX_WORKERS,
    SERVICE_RANGE,
    STORAGE_ADDRESS,
    SWITCH_ADDRESS,
    BoxError,
    node_address,
    pod_range,
    workers,
)


def port(node: str) -> str:
    """The switch's end of a node's cable."""
    return f"v-{node}"


def hardware_address(node: str) -> str:
    """Always the same: with another one after a restart, its neighbours would talk to the old one for a minute."""
    return f"02:62:6f:78:00:{int(node_address(node).rpartition('.')[2]):02x}"


def switch_on() -> None:
    """Sets the room's own network up."""
    ip(
        "link set lo up",
        "link add br0 type bridge stp_state 0 forward_delay 0",
        f"addr add {SWITCH_ADDRESS}/24 dev br0",
        f"addr add {STORAGE_ADDRESS}/24 dev br0",
        "link set br0 up",
        "route add unreachable default",
        # Also for workers that do not run: an answer to a pod must find its way, or a refused connection hangs.
        *(f"route add {pod_range(name)} via {node_address(name)}" for name in workers(MAX_WORKERS)),
    )
    _sysctl("net/ipv4/ip_forward", "1")
    _sysctl("net/ipv6/conf/all/disable_ipv6", "1")


def plug_in(node: str, namespace_of: int) -> None:
    """Connects a node, given a process in its network namespace."""
    unplug(node)  # what a killed node left behind
    end = f"eth0 address {hardware_address(node)}"
    ip(f"link add {port(node)} type veth peer name {end} netns {namespace_of}", f"link set {port(node)} master br0 up")


def unplug(node: str) -> None:
    """The cable of a node without power; it goes by itself with the node's namespace, only a little later."""
    subprocess.run(["ip", "link", "del", port(node)], capture_output=True, check=False)


def set_cable(node: str, *, connected: bool) -> None:
    ip(f"link set {port(node)} {'up' if connected else 'down'}")


def splice(node: str) -> str:
    """Opens a node's cable at the switch for a forwarder; returns the new end that leads on to the switch."""
    inner, outer = f"d-{node}", f"dp-{node}"
    ip(
        f"link add {inner} type veth peer name {outer}",
        f"link set {outer} master br0 up",
        f"link set {inner} up",
        f"link set {port(node)} nomaster",
    )
    return inner


def remove_splice(node: str) -> None:
    """Closes the cable again."""
    subprocess.run(["ip", "link", "del", f"d-{node}"], capture_output=True, check=False)
    subprocess.run(["ip", "link", "set", port(node), "master", "br0"], capture_output=True, check=False)


def services_through(node: str) -> None:
    """Lets programs in the room reach service addresses, by a node that has a kube-proxy."""
    ip(f"route replace {SERVICE_RANGE} via {node_address(node)}")


def configure_node(node: str) -> None:
    """Sets the network up inside a node; runs there."""
    neighbours = [name for name in workers(MAX_WORKERS) if name != node]
    ip(
        "link set lo up",
        f"addr add {node_address(node)}/24 dev eth0",
        "link set eth0 up",
        f"route add default via {SWITCH_ADDRESS}",
        *(f"route add {pod_range(name)} via {node_address(name)}" for name in neighbours),
    )
    _sysctl("net/ipv4/ip_forward", "1")
    _sysctl("net/ipv6/conf/all/disable_ipv6", "1")


def resolv_conf() -> str:
    return "# no resolver outside the box\n"


def hosts(node: str) -> str:
    lines = ["127.0.0.1 localhost", f"{node_address(node)} {node}"]
    if node != CONTROL_PLANE:
        lines.append(f"{node_address(CONTROL_PLANE)} {CONTROL_PLANE}")
    return "\n".join(lines) + "\n"


def ip(*commands: str) -> None:
    """Runs several `ip` commands in one process; the first that fails ends it."""
    done = subprocess.run(["ip", "-batch", "-"], input="\n".join(commands), capture_output=True, text=True, check=False)
    if done.returncode:
        raise BoxError(f"the box's network could not be set up: {' '.join(done.stderr.split())}")


def _sysctl(name: str, value: str) -> None:
    path = Path("/proc/sys") / name
    if path.exists():  # an IPv6 switch is absent where the kernel has no IPv6
        path.write_text(value)
