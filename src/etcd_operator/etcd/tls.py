"""The client's side of mutual TLS: the certificates as bytes, and a loader for certificates that lie in files.

gRPC fixes a channel's certificates when the channel is made, so a new certificate means a new channel: the fingerprint
of a `Tls` is part of the key that channels are kept under, and nothing else has to know about rotation.
"""

from __future__ import annotations

import hashlib
import os
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path


@dataclass(frozen=True)
class Tls:
    """PEM: whom to trust, and who we are."""

    ca: bytes = field(repr=False)
    certificate: bytes = field(repr=False)
    key: bytes = field(repr=False)

    @cached_property
    def fingerprint(self) -> str:
        digest = hashlib.sha256()
        for part in (self.ca, self.certificate, self.key):
            digest.update(len(part).to_bytes(8, "big") + part)
        return digest.hexdigest()


def flaw_in(tls: Tls) -> str | None:
    """Why no connection could ever be made with it, as far as can be told without trying.

    Python's ssl reads certificates from files only; these exist in memory, and for nobody else.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        context.load_verify_locations(cadata=tls.ca.decode("ascii", errors="ignore"))
    except (ssl.SSLError, ValueError):
        return "its authority is no certificate in PEM form"
    with _in_memory(tls.certificate) as certificate, _in_memory(tls.key) as key:
        try:
            context.load_cert_chain(
                certificate, key, password=""
            )  # an encrypted key would be asked for on the terminal
        except (ssl.SSLError, ValueError) as error:
            return f"its certificate and its key are not a pair in PEM form ({error})"
    return None


@contextmanager
def _in_memory(content: bytes) -> Iterator[str]:
    descriptor = os.memfd_create("pem", os.MFD_CLOEXEC)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        yield f"/proc/self/fd/{descriptor}"


Stamp = tuple[tuple[int, int, int], ...]


@dataclass(frozen=True)
class _Loaded:
    stamp: Stamp
    tls: Tls


class TlsFiles:
    """Certificates in files that somebody renews, such as a mounted Secret.

    A certificate and the key of another, seen in the middle of a renewal, would make every handshake fail: until the
    pair fits, the one before stays in use.
    """

    def __init__(self, *, ca: Path, certificate: Path, key: Path) -> None:
        self._paths = (ca, certificate, key)
        self._loaded: _Loaded | None = None

    def current(self) -> Tls:
        """Call it for each use: it costs three `stat` calls while nothing changes."""
        try:
            stamp = self._stamp()
            if self._loaded is None or self._loaded.stamp != stamp:
                self._loaded = _Loaded(stamp, self._load())
        except OSError:  # of the files, and of ssl about what is in them
            if self._loaded is None:
                raise
        return self._loaded.tls

    def _stamp(self) -> Stamp:
        found = [path.stat() for path in self._paths]
        return tuple((one.st_ino, one.st_mtime_ns, one.st_size) for one in found)

    def _load(self) -> Tls:
        ca, certificate, key = self._paths
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.load_verify_locations(ca)
        context.load_cert_chain(certificate, key)
        return Tls(*(path.read_bytes() for path in self._paths))
