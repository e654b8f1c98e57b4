from __future__ import annotations

import os
import ssl
from pathlib import Path

import pytest
import trustme
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
    load_pem_private_key,
)

from etcd_operator.etcd.line import Login
from etcd_operator.etcd.tls import Tls, TlsFiles, flaw_in


class Folder:
    """Where somebody keeps the certificates of a client, and renews them."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.writes = 0

    def renew(self, authority: trustme.CA, *, without_key: bool = False) -> None:
        issued = authority.issue_cert("client.example")
        self._write("ca", authority.cert_pem.bytes())
        self._write("certificate", issued.cert_chain_pems[0].bytes())
        if not without_key:
            self._write("key", issued.private_key_pem.bytes())

    def files(self) -> TlsFiles:
        return TlsFiles(ca=self.path / "ca", certificate=self.path / "certificate", key=self.path / "key")

    def _write(self, name: str, content: bytes) -> None:
        """Each with a time of its own: two writes can fall into one tick of the filesystem's clock."""
        self.writes += 1
        (self.path / name).write_bytes(content)
        os.utime(self.path / name, ns=(self.writes, self.writes))


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


def test_the_same_certificates_are_given_while_the_files_stay(folder: Folder) -> None:
    folder.renew(trustme.CA())
    files = folder.files()

    assert files.current() is files.current()


def test_a_renewed_certificate_is_seen(folder: Folder) -> None:
    authority = trustme.CA()
    folder.renew(authority)
    files = folder.files()
    before = files.current()

    folder.renew(authority)

    assert files.current().ca == before.ca
    assert files.current().fingerprint != before.fingerprint


def test_the_old_pair_stays_until_the_key_fits_the_new_certificate(folder: Folder) -> None:
    authority = trustme.CA()
    folder.renew(authority)
    files = folder.files()
    before = files.current()

    folder.renew(authority, without_key=True)
    assert files.current() is before

    folder.renew(authority)
    assert files.current() is not before


def test_the_old_pair_stays_while_a_file_is_gone(folder: Folder) -> None:
    folder.renew(trustme.CA())
    files = folder.files()
    before = files.current()

    (folder.path / "key").unlink()

    assert files.current() is before


def test_files_that_never_fitted_are_an_error(folder: Folder) -> None:
    folder.renew(trustme.CA())
    (folder.path / "ca").write_bytes(b"nothing of the kind")

    with pytest.raises(ssl.SSLError):
        folder.files().current()


def test_secrets_are_not_printed() -> None:
    shown = repr(Tls(b"one", b"two", b"three")) + repr(Login("root", "four"))

    assert not any(secret in shown for secret in ("one", "two", "three", "four"))


def test_a_pair_with_its_authority_has_no_flaw_and_one_that_does_not_fit_has() -> None:
    authority = trustme.CA()
    one, other = (authority.issue_cert("client.example") for _ in range(2))
    ca, certificate, key = authority.cert_pem.bytes(), one.cert_chain_pems[0].bytes(), one.private_key_pem.bytes()

    assert flaw_in(Tls(ca, certificate, key)) is None
    assert "not a pair" in (flaw_in(Tls(ca, certificate, other.private_key_pem.bytes())) or "")
    assert "authority" in (flaw_in(Tls(b"", certificate, key)) or "")
    assert "authority" in (flaw_in(Tls("Schlüssel".encode(), certificate, key)) or "")


def test_a_key_that_needs_a_password_is_a_flaw_and_nobody_is_asked_for_it() -> None:
    authority = trustme.CA()
    issued = authority.issue_cert("client.example")
    locked = load_pem_private_key(issued.private_key_pem.bytes(), None).private_bytes(
        Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"secret")
    )

    assert "not a pair" in (flaw_in(Tls(authority.cert_pem.bytes(), issued.cert_chain_pems[0].bytes(), locked)) or "")
