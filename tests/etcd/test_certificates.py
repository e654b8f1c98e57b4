"""Mutual TLS by address: the certificate's name counts, new certificates are taken up, wrong ones are told."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from etcd_operator.etcd.errors import NotReachedError
from etcd_operator.etcd.line import Target
from etcd_operator.etcd.pool import Pool
from etcd_operator.etcd.tls import Tls, TlsFiles
from tests.etcd.certificates import Authority, Identity, IdentityFiles
from tests.etcd.dialling import target_of, tls_of
from tests.etcd.servers import VERSIONS, Cluster, Server, cluster


@pytest.fixture(scope="module", params=VERSIONS)
def secured(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    with cluster(request.param, tls=True) as made:
        yield made


def client_of(secured: Cluster) -> Identity:
    assert secured.authority
    return secured.authority.client()


def renewed(server: Server, authority: Authority, *, trusted: bytes) -> None:
    """Gives a running server a certificate by another authority; whom it trusts, it has read at its start."""
    assert server.tls
    fresh = authority.server(server.authority)
    server.tls.write(Identity(trusted, fresh.certificate, fresh.key))


async def test_the_name_in_the_certificate_is_enough_to_dial_an_address(secured: Cluster, pool: Pool) -> None:
    member = pool.member(target_of(secured[0]), tls=tls_of(client_of(secured)))

    assert (await member.status()).leads


async def test_a_server_with_another_name_is_not_reached(secured: Cluster, pool: Pool) -> None:
    meant = Target(secured[0].client, "demo-other.demo.ns.svc")

    with pytest.raises(NotReachedError, match=r"demo-other\.demo\.ns\.svc"):
        await pool.member(meant, tls=tls_of(client_of(secured))).status()


async def test_a_server_of_another_authority_is_not_reached(secured: Cluster, pool: Pool) -> None:
    mine = client_of(secured)
    distrusting = Tls(ca=Authority().certificate, certificate=mine.certificate, key=mine.key)

    with pytest.raises(NotReachedError, match=r"(?i)certificate"):
        await pool.member(target_of(secured[0]), tls=distrusting).put(b"key", b"value")


async def test_a_client_of_another_authority_is_turned_away(secured: Cluster, pool: Pool) -> None:
    stranger = Authority().client()
    tls = Tls(ca=client_of(secured).ca, certificate=stranger.certificate, key=stranger.key)

    with pytest.raises(NotReachedError):
        await pool.member(target_of(secured[0]), tls=tls).put(b"key", b"value", deadline=5)

    found = await pool.member(target_of(secured[0]), tls=tls_of(client_of(secured))).range(b"key")
    assert found.count == 0


async def test_plain_text_is_turned_away(secured: Cluster, pool: Pool) -> None:
    with pytest.raises(NotReachedError):
        await pool.member(Target(secured[0].client)).put(b"key", b"value", deadline=2)


async def test_a_new_certificate_of_the_client_is_taken_up_from_its_files(
    secured: Cluster, pool: Pool, tmp_path: Path
) -> None:
    written = IdentityFiles(tmp_path)
    written.write(client_of(secured))
    files = TlsFiles(ca=written.ca, certificate=written.certificate, key=written.key)
    first = files.current()
    await pool.member(target_of(secured[0]), tls=first).status()

    written.write(client_of(secured))
    second = files.current()
    await pool.member(target_of(secured[0]), tls=second).status()

    assert second.fingerprint != first.fingerprint
    assert len(pool) == 2
    assert files.current() is second


async def test_a_certificate_amid_its_renewal_is_not_taken_up(secured: Cluster, tmp_path: Path) -> None:
    written = IdentityFiles(tmp_path)
    written.write(client_of(secured))
    files = TlsFiles(ca=written.ca, certificate=written.certificate, key=written.key)
    first = files.current()
    fresh = client_of(secured)

    written.certificate.write_bytes(fresh.certificate)
    assert files.current() is first
    os.unlink(written.key)
    assert files.current() is first
    written.key.write_bytes(fresh.key)
    assert files.current() == tls_of(fresh)


async def test_a_rotated_authority_is_taken_up_without_a_restart_of_anything(
    secured: Cluster, pool: Pool, tmp_path: Path
) -> None:
    """Last in this file: the server keeps its new certificate."""
    assert secured.authority
    mine, new = client_of(secured), Authority()
    written = IdentityFiles(tmp_path)
    written.write(mine)
    files = TlsFiles(ca=written.ca, certificate=written.certificate, key=written.key)
    await pool.member(target_of(secured[0]), tls=files.current()).status()

    renewed(secured[0], new, trusted=mine.ca)
    async with Pool() as fresh:
        with pytest.raises(NotReachedError):
            await fresh.member(target_of(secured[0]), tls=files.current()).status()
    written.write(Identity(mine.ca + new.certificate, mine.certificate, mine.key))

    assert (await pool.member(target_of(secured[0]), tls=files.current()).status()).leads
