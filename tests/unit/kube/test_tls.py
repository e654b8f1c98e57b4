"""Whom a context believes: as kubectl does, on every Python; the handshakes are real, and pass through memory."""

from __future__ import annotations

import ssl

import pytest
import trustme

from etcd_operator.kube.errors import ConfigurationError
from etcd_operator.kube.tls import client_context


def shake_hands(client: ssl.SSLContext, server: ssl.SSLContext, *, name: str) -> None:
    there, back = ssl.MemoryBIO(), ssl.MemoryBIO()
    sides = [
        client.wrap_bio(back, there, server_hostname=name),
        server.wrap_bio(there, back, server_side=True),
    ]
    while sides:
        for side in tuple(sides):
            try:
                side.do_handshake()
            except ssl.SSLWantReadError:
                continue
            sides.remove(side)


def server_of(authority: trustme.CA) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("kubernetes.test").configure_cert(context)
    return context


def trusting(authority: bytes) -> ssl.SSLContext:
    return client_context(authority=authority, verify=True, certificate=None)


def test_the_authority_is_believed_and_no_other() -> None:
    ours, other = trustme.CA(), trustme.CA()

    shake_hands(trusting(ours.cert_pem.bytes()), server_of(ours), name="kubernetes.test")

    with pytest.raises(ssl.SSLCertVerificationError):
        shake_hands(trusting(other.cert_pem.bytes()), server_of(ours), name="kubernetes.test")
    with pytest.raises(ssl.SSLCertVerificationError):
        shake_hands(trusting(ours.cert_pem.bytes()), server_of(ours), name="another.test")


def test_an_intermediate_authority_alone_is_believed() -> None:
    intermediate = trustme.CA().create_child_ca()

    shake_hands(trusting(intermediate.cert_pem.bytes()), server_of(intermediate), name="kubernetes.test")


def test_comments_between_certificates_may_be_in_any_language() -> None:
    ours = trustme.CA()
    bundle = "# Behörde\n".encode() + ours.cert_pem.bytes()

    shake_hands(trusting(bundle), server_of(ours), name="kubernetes.test")


@pytest.mark.parametrize("nothing", [b"", b" \n"])
def test_an_empty_authority_does_not_mean_everybody(nothing: bytes) -> None:
    with pytest.raises(ConfigurationError, match="the certificate authority is empty"):
        trusting(nothing)
