"""The versions of etcd in the box, one of each series, as users write them."""

from __future__ import annotations

from box.toolchain.tools import tool

V32, V33, V34, V35, V36, V37 = (tool(f"etcd-3.{minor}").version for minor in range(2, 8))
EVERY = (V32, V33, V34, V35, V36, V37)
