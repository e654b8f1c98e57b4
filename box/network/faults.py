"""Cuts and losses between two places, as nftables rules on the nodes.

A rule sits where packets already have their final addresses (after a service's translation), so a pair of pods is hit
whether they talk directly or through a service. It stands on one node only, the sender's: a packet that crosses two
nodes would otherwise be diced for twice, and a loss of 30 % would be one of 51 %.
"""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Network

from box.layout import CONTROL_PLANE, MAX_WORKERS, node_address, pod_range, workers

_TABLE = "box_faults"
_HOOKS = ("forward", "input", "output")


@dataclass(frozen=True)
class Fault:
    """Packets from one place to another that are lost. 100 percent is a cut."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    percent: float

    def describe(self) -> str:
        what = "cut" if self.percent >= 100 else f"loss of {self.percent:g} %"
        return f"{what} from {', '.join(self.source)} to {', '.join(self.target)}"


def between(*, a: tuple[str, ...], b: tuple[str, ...], percent: float, one_way: bool) -> tuple[Fault, ...]:
    there = Fault(a, b, percent)
    return (there,) if one_way else (there, Fault(b, a, percent))


def node_places(node: str) -> tuple[str, ...]:
    """The addresses of a node and of the pods on it."""
    return (node_address(node),) if node == CONTROL_PLANE else (node_address(node), pod_range(node))


def ruleset(node: str, faults: tuple[Fault, ...]) -> str:
    """An nftables script for one node that replaces whatever faults were there, in one transaction."""
    lines = [f"table inet {_TABLE} {{}}", f"delete table inet {_TABLE}"]
    rules = [f"    {rule}" for fault in faults if (rule := _rule(node, fault))]
    if rules:
        lines.append(f"table inet {_TABLE} {{")
        for hook in _HOOKS:
            lines += [f"  chain on_{hook} {{", f"    type filter hook {hook} priority -5;", *rules, "  }"]
        lines.append("}")
    return "\n".join(lines) + "\n"


def stands_on(node: str, fault: Fault) -> bool:
    return bool(_rule(node, fault))


def _rule(node: str, fault: Fault) -> str:
    own = [place for place in fault.source if _is_on(node, place)]
    outside = [place for place in fault.source if not _is_on_any_node(place)]
    target = list(fault.target)
    if not own:  # senders outside the nodes, such as the object storage, are met where the packet arrives
        own, target = outside, [place for place in fault.target if _is_on(node, place)]
    if not own or not target:
        return ""
    addresses = f"ip saddr {_set(own)} ip daddr {_set(target)}"
    if fault.percent >= 100:
        return f"{addresses} drop"
    return f"{addresses} numgen random mod 10000 < {round(fault.percent * 100)} drop"


def _is_on(node: str, place: str) -> bool:
    return any(IPv4Network(place).subnet_of(IPv4Network(own)) for own in node_places(node))


def _is_on_any_node(place: str) -> bool:
    return any(_is_on(node, place) for node in (CONTROL_PLANE, *workers(MAX_WORKERS)))


def _set(addresses: list[str]) -> str:
    return "{ " + ", ".join(addresses) + " }"
