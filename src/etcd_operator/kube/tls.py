"""Whom we trust and what we show: the TLS side of a connection, made anew when its files change.

A context is fixed once it is made, so there is one per state of the files, and requests name the one they want: aiohttp
keeps connections of different contexts apart, so new requests use the new certificate and old streams live on.
"""

from __future__ import annotations

import os
import ssl
import tempfile
from pathlib import Path

import msgspec

from etcd_operator.kube.errors import ConfigurationError
from etcd_operator.kube.watched_file import WatchedFile

Pem = bytes | WatchedFile  # inside the kubeconfig, or in a file of its own


class Certificate(msgspec.Struct, frozen=True):
    """A client certificate with its key."""

    chain: bytes
    key: bytes

    def __repr__(self) -> str:
        return f"Certificate({len(self.chain)} bytes)"


class Trust(msgspec.Struct, frozen=True):
    """Which servers are believed to be the one meant."""

    authority: Pem | None = None  # None: whom the machine trusts
    verify: bool = True


def content(pem: Pem) -> bytes:
    return pem if isinstance(pem, bytes) else pem.read()


class Contexts:
    """The context for the present state of the files; the last good one while they contradict each other."""

    def __init__(self, trust: Trust) -> None:
        self._trust = trust
        self._state: tuple[bytes | None, Certificate | None] | None = None
        self._made: ssl.SSLContext | None = None

    def context(self, certificate: Certificate | None) -> ssl.SSLContext:
        authority = None if self._trust.authority is None else content(self._trust.authority)
        state = (authority, certificate)
        if self._made is not None and state == self._state:
            return self._made
        try:
            self._made = client_context(authority=authority, verify=self._trust.verify, certificate=certificate)
        except ConfigurationError:
            # Certificate and key are two files: between their renewals they do not belong together.
            if self._made is None:
                raise
        self._state = state
        return self._made


def client_context(*, authority: bytes | None, verify: bool, certificate: Certificate | None) -> ssl.SSLContext:
    if authority is not None and not authority.strip():
        # Python would take nothing for "whom the machine trusts", which is everybody with a public certificate.
        raise ConfigurationError("the certificate authority is empty")
    try:
        # Only the comments between certificates can hold anything but ASCII, which Python refuses.
        context = ssl.create_default_context(cadata=authority and authority.decode("ascii", errors="ignore"))
    except (ssl.SSLError, ValueError) as error:
        raise ConfigurationError(f"the certificate authority is not PEM that OpenSSL can read: {error}") from error
    # Since Python 3.13 a context is strict by default and refuses authorities that clusters in the wild were made with,
    # and only since then does it believe an intermediate authority alone, as kubectl does.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    if not verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if certificate is not None:
        _show(context, certificate)
    return context


def _show(context: ssl.SSLContext, certificate: Certificate) -> None:
    """OpenSSL's Python binding takes a key only from a file: one of ours alone, and gone again at once."""
    with tempfile.TemporaryDirectory(prefix="etcd-operator-") as folder:
        place = Path(folder) / "client.pem"
        descriptor = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as handle:
            handle.write(certificate.chain + b"\n" + certificate.key)
        try:
            context.load_cert_chain(place, password=_nobody_to_ask)
        except (ssl.SSLError, ValueError) as error:
            raise ConfigurationError(f"the client certificate and its key cannot be used together: {error}") from error


def _nobody_to_ask() -> str:
    raise ValueError("the key is encrypted, and there is nobody to ask for its password")
