"""The table of what each version can do, asked in the client's way: with the errors that its callers know."""

from __future__ import annotations

from etcd_operator.etcd.errors import UnsupportedError
from etcd_operator.releases.capabilities import Capability, can, row_of
from etcd_operator.releases.version import NotAVersionError, Version


def read_version(text: str) -> Version:
    """What a server calls itself."""
    try:
        return Version.parse(text)
    except NotAVersionError as error:
        raise UnsupportedError(str(error)) from None


def require(version: Version, capability: Capability) -> None:
    if not can(version, capability):
        since = row_of(capability).since
        raise UnsupportedError(f"etcd {version} has no such thing as {capability.value}: it came with {since.series}")
