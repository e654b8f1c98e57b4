"""The certificates of a cluster under test: one authority, a server's by name and not by address, clients' by user.

A server's certificate is good for its DNS name only, as those of the operator's members are, while the tests dial an
address: a client that checks the wrong one of the two does not get through.
"""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from pathlib import Path

import trustme


@dataclass(frozen=True)
class Identity:
    """One side of a connection: whom it trusts, and what it shows, all as PEM."""

    ca: bytes
    certificate: bytes
    key: bytes


class Authority:
    def __init__(self) -> None:
        self._ca = trustme.CA()

    @property
    def certificate(self) -> bytes:
        return self._ca.cert_pem.bytes()

    def server(self, name: str) -> Identity:
        return self._issued(name, "server")

    def client(self, user: str = "client") -> Identity:
        """Its common name is the user that etcd takes it for."""
        return self._issued(f"{user}.client.invalid", user)

    def _issued(self, name: str, common_name: str) -> Identity:
        leaf = self._ca.issue_cert(name, common_name=common_name)
        chain = b"".join(pem.bytes() for pem in leaf.cert_chain_pems)
        return Identity(self.certificate, chain, leaf.private_key_pem.bytes())


@dataclass(frozen=True)
class IdentityFiles:
    """An identity as the files that programs read."""

    folder: Path

    @property
    def ca(self) -> Path:
        return self.folder / "ca.crt"

    @property
    def certificate(self) -> Path:
        return self.folder / "tls.crt"

    @property
    def key(self) -> Path:
        return self.folder / "tls.key"

    def write(self, identity: Identity) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self.ca.write_bytes(identity.ca)
        self.certificate.write_bytes(identity.certificate)
        self.key.write_bytes(identity.key)

    def context(self) -> ssl.SSLContext:
        """For a plain HTTPS request by address."""
        context = ssl.create_default_context(cafile=str(self.ca))
        context.check_hostname = False
        context.load_cert_chain(self.certificate, self.key)
        return context
