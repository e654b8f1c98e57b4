"""Delays of a node's or a pod's packets: a forwarder of frames is put into the node's cable.

Not every kernel has netem, so a small program of ours holds the frames back. It sits at the switch: packets between
two pods on the same node do not pass there and are not delayed.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from box.children import Child, Children
from box.layout import Layout
from box.network import switch
from box.network.forwarder import ALL


class Delays:
    """Which nodes have a forwarder in their cable, and what it holds back."""

    def __init__(self, layout: Layout, children: Children) -> None:
        self._layout, self._children = layout, children
        self._rules: dict[str, dict[str, float]] = {}

    async def set(self, node: str, *, address: str, milliseconds: float) -> None:
        """Delays packets from and to an address of the node, or all of them."""
        rules = {**self._rules.get(node, {}), address: milliseconds}
        known = node in self._rules
        self._rules[node] = {key: value for key, value in rules.items() if value > 0}
        self._write(node)
        if not known:
            self._splice(node)

    async def clear(self) -> None:
        for node in list(self._rules):
            await self._children.end(f"delay-{node}")
            switch.remove_splice(node)
            del self._rules[node]

    async def reconnect(self, node: str) -> None:
        """A node that was started again has a new cable."""
        if node in self._rules:
            await self._children.end(f"delay-{node}")
            switch.remove_splice(node)
            self._splice(node)

    def describe(self) -> list[str]:
        return [
            f"delay of {value:g} ms each way for {'everything' if key == ALL else key} on {node}"
            for node, rules in self._rules.items()
            for key, value in rules.items()
        ]

    def _splice(self, node: str) -> None:
        inner = switch.splice(node)
        argv = (sys.executable, "-m", "box.network.forwarder", switch.port(node), inner, str(self._file(node)))
        self._children.keep(Child(f"delay-{node}", argv))

    def _write(self, node: str) -> None:
        draft = self._file(node).with_suffix(".draft")
        draft.write_text(json.dumps(self._rules[node]))
        draft.rename(self._file(node))

    def _file(self, node: str) -> Path:
        return self._layout.node(node) / "delays.json"
