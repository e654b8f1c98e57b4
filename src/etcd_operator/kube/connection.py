"""Which cluster is meant, how to get there, and as whom: everything a client needs, as one value.

`surroundings.find` makes one of what a program is started with; a test or a tool may just as well write its own.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import urlsplit

from etcd_operator.kube.credentials import Credentials, FixedHeaders
from etcd_operator.kube.errors import ConfigurationError
from etcd_operator.kube.tls import Trust


@dataclass(frozen=True)
class Connection:
    """The way to one API server."""

    server: str  # scheme, host, port, perhaps a path that a proxy in front wants
    credentials: Credentials = field(default_factory=FixedHeaders)
    trust: Trust = field(default_factory=Trust)
    namespace: str = "default"  # the one to use where a user names none
    server_name: str | None = None  # in its certificate, where that is not the host
    proxy: str | None = field(default=None, repr=False)  # it may hold a password

    def __post_init__(self) -> None:
        url = urlsplit(self.server)
        if url.scheme not in ("http", "https") or not url.hostname:
            raise ConfigurationError(f"{self.server!r} is no address of an API server: https://host:port is expected")
        if url.username is not None:
            # It would be in every message about the server.
            raise ConfigurationError("a user name or a password in the address of the server is not understood")
        if self.proxy and urlsplit(self.proxy).scheme not in ("http", "https"):
            shown = self.proxy.rpartition("@")[2] if "@" in self.proxy else self.proxy
            raise ConfigurationError(f"the proxy {shown!r} is neither http:// nor https://, which is all we speak")

    @property
    def secure(self) -> bool:
        return self.server.startswith("https:")
