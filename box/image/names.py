"""Names of images, as containerd spells them."""

from __future__ import annotations


def normalise(name: str) -> str:
    """The full name that containerd keeps: `busybox` is `docker.io/library/busybox:latest`."""
    host, slash, rest = name.partition("/")
    if not slash:
        host, rest = "docker.io", f"library/{name}"
    elif not ("." in host or ":" in host or host == "localhost"):
        host, rest = "docker.io", name
    elif host == "docker.io" and "/" not in rest:
        rest = f"library/{rest}"
    tagged = ":" in rest.rsplit("/", 1)[-1] or "@" in rest
    return f"{host}/{rest}" if tagged else f"{host}/{rest}:latest"
