"""The nine files that `example/tls/certs/gen-cert.sh` makes: openssl's opinion of them, and etcd's."""

from __future__ import annotations

import http.client
import random
import shutil
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from box.layout import REPOSITORY
from etcd_operator.etcd.errors import NotReachedError
from etcd_operator.etcd.line import Target
from etcd_operator.etcd.pool import Pool
from etcd_operator.etcd.tls import Tls
from tests.etcd.certificates import Authority, IdentityFiles
from tests.etcd.dialling import tls_of
from tests.etcd.servers import Cluster

SCRIPT = REPOSITORY / "example/tls/certs/gen-cert.sh"
KINDS = ("peer", "server", "etcd-client")
NINE = {f"{kind}{end}" for kind in KINDS for end in (".crt", ".key", "-ca.crt")}
MEMBER = "example-abc.example.default.svc"


def generate(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    folder.mkdir(exist_ok=True)
    return subprocess.run([SCRIPT, *options], cwd=folder, capture_output=True, text=True, check=False)


def openssl(*arguments: str) -> str:
    return subprocess.run(["openssl", *arguments], capture_output=True, text=True, check=True).stdout


def extension(certificate: Path, name: str) -> list[str]:
    _, _, values = openssl("x509", "-in", str(certificate), "-noout", "-ext", name).partition("\n")
    return values.strip().split(", ") if values else []


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("certs")
    done = generate(folder)
    assert done.returncode == 0, done.stderr
    return folder


def test_nine_files_are_made_and_nobody_else_can_read_them(made: Path) -> None:
    assert {path.name for path in made.iterdir()} == NINE
    assert {path.stat().st_mode & 0o077 for path in made.iterdir()} == {0}


@pytest.mark.parametrize("kind", KINDS)
def test_key_certificate_and_authority_belong_together(made: Path, kind: str) -> None:
    certificate, key, authority = (made / f"{kind}{end}" for end in (".crt", ".key", "-ca.crt"))

    assert openssl("verify", "-x509_strict", "-CAfile", str(authority), str(certificate)).strip().endswith(": OK")
    certified = openssl("x509", "-in", str(certificate), "-noout", "-pubkey")
    assert certified == openssl("pkey", "-in", str(key), "-pubout")


def test_peers_are_known_by_short_and_full_name_and_may_be_on_both_ends(made: Path) -> None:
    assert extension(made / "peer.crt", "subjectAltName") == [
        "DNS:*.example.default.svc",
        "DNS:*.example.default.svc.cluster.local",
    ]
    assert extension(made / "peer.crt", "extendedKeyUsage") == [
        "TLS Web Server Authentication",
        "TLS Web Client Authentication",
    ]


def test_a_server_is_known_by_member_by_service_and_on_its_own_host(made: Path) -> None:
    names = set(extension(made / "server.crt", "subjectAltName"))

    assert names >= {"DNS:*.example.default.svc", "DNS:example-client.default.svc", "DNS:localhost"}
    assert names >= {"DNS:example-client", "DNS:example-client.default.svc.cluster.local", "IP Address:127.0.0.1"}


def test_a_client_is_a_client_and_nothing_else(made: Path) -> None:
    assert extension(made / "etcd-client.crt", "extendedKeyUsage") == ["TLS Web Client Authentication"]
    assert "Subject Alternative Name" not in openssl("x509", "-in", str(made / "etcd-client.crt"), "-noout", "-text")


def test_cluster_namespace_domain_and_further_names_can_be_given(tmp_path: Path) -> None:
    options = ("--cluster=db", "--namespace=prod", "--domain=k8s.example", "--name=etcd.example.com", "--name=10.1.2.3")
    assert generate(tmp_path, *options).returncode == 0

    assert extension(tmp_path / "peer.crt", "subjectAltName") == ["DNS:*.db.prod.svc", "DNS:*.db.prod.svc.k8s.example"]
    names = extension(tmp_path / "server.crt", "subjectAltName")
    assert {"DNS:db-client.prod.svc", "DNS:etcd.example.com", "IP Address:10.1.2.3"} <= set(names)


def test_files_that_are_there_are_kept_unless_force_is_used(tmp_path: Path) -> None:
    assert generate(tmp_path).returncode == 0
    before = (tmp_path / "peer.key").read_bytes()

    refused = generate(tmp_path)
    assert refused.returncode == 1
    assert "is here already" in refused.stderr
    assert (tmp_path / "peer.key").read_bytes() == before

    assert generate(tmp_path, "--force").returncode == 0
    assert (tmp_path / "peer.key").read_bytes() != before


def test_a_kept_authority_signs_the_next_certificates_too(tmp_path: Path) -> None:
    assert generate(tmp_path, "--keep-ca").returncode == 0
    authority = (tmp_path / "server-ca.crt").read_bytes()
    certificate = (tmp_path / "server.crt").read_bytes()

    assert generate(tmp_path, "--keep-ca", "--force").returncode == 0

    assert (tmp_path / "server-ca.crt").read_bytes() == authority == (tmp_path / "ca.crt").read_bytes()
    assert (tmp_path / "server.crt").read_bytes() != certificate


def put(into: IdentityFiles, made: Path, kind: str) -> IdentityFiles:
    into.folder.mkdir(parents=True)
    for source, target in ((".crt", into.certificate), (".key", into.key), ("-ca.crt", into.ca)):
        shutil.copy(made / f"{kind}{source}", target)
    return into


@pytest.fixture(scope="module", params=["3.2", "3.7"])
def served(request: pytest.FixtureRequest, made: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """The oldest and the newest etcd, on these very files."""
    folder = tmp_path_factory.mktemp("served")
    cluster = Cluster(request.param, folder, f"127.{random.randint(1, 254)}.0.1", authority=None)
    server = cluster.prepare()
    server.tls = put(IdentityFiles(folder / "server"), made, "server")
    server.operator = put(IdentityFiles(folder / "operator"), made, "etcd-client")
    try:
        cluster.start()
        cluster.wait_healthy()
        yield cluster
    finally:
        cluster.end()


@pytest.mark.parametrize("name", [MEMBER, "example-client.default.svc", "localhost"])
async def test_etcd_serves_the_operator_under_the_names_it_has(
    served: Cluster, made: Path, pool: Pool, name: str
) -> None:
    ca, certificate, key = ((made / f"etcd-client{end}").read_bytes() for end in ("-ca.crt", ".crt", ".key"))
    member = pool.member(Target(served[0].client, name), tls=Tls(ca=ca, certificate=certificate, key=key))

    assert (await member.status()).leads


async def test_etcd_turns_a_stranger_away(served: Cluster, made: Path, pool: Pool) -> None:
    stranger = tls_of(Authority().client())
    tls = Tls(ca=(made / "etcd-client-ca.crt").read_bytes(), certificate=stranger.certificate, key=stranger.key)

    with pytest.raises(NotReachedError):
        await pool.member(Target(served[0].client, MEMBER), tls=tls).status()


def test_etcds_own_gateway_can_use_the_servers_certificate_as_a_client(served: Cluster) -> None:
    version, body = {"3.2": "v3alpha", "3.7": "v3"}[served.version], b'{"key": "YQ=="}'
    operator = served[0].operator
    assert operator
    host, _, port = served[0].client.rpartition(":")
    context: ssl.SSLContext = operator.context()
    connection = http.client.HTTPSConnection(host, int(port), timeout=10, context=context)
    try:
        connection.request("POST", f"/{version}/kv/range", body=body)
        assert connection.getresponse().status == 200
    finally:
        connection.close()
