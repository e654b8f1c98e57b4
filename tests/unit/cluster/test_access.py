from __future__ import annotations

import pytest
import trustme

from etcd_operator.cluster.access import Found, Withheld, judged, wanted_by
from etcd_operator.etcd.line import Login
from tests.unit.cluster.clusters import BOTH_TLS, PEER_TLS, a_cluster

USER: dict[str, bytes] = {"username": b"root", "password": b"secret"}


@pytest.fixture(scope="module")
def pair() -> tuple[bytes, bytes, bytes]:
    """Certificate, key and authority."""
    authority = trustme.CA()
    issued = authority.issue_cert("client.example")
    return issued.cert_chain_pems[0].bytes(), issued.private_key_pem.bytes(), authority.cert_pem.bytes()


def secret(stem: str, pair: tuple[bytes, bytes, bytes]) -> dict[str, bytes]:
    return dict(zip((f"{stem}.crt", f"{stem}.key", f"{stem}-ca.crt"), pair, strict=True))


@pytest.fixture
def everything(pair: tuple[bytes, bytes, bytes]) -> dict[str, Found]:
    return {
        "etcd-peer-tls": secret("peer", pair),
        "etcd-server-tls": secret("server", pair),
        "etcd-client-tls": secret("etcd-client", pair),
        "root": USER,
    }


SECURED = a_cluster(TLS=BOTH_TLS, authSecret="root")


def test_a_cluster_without_tls_and_users_needs_no_secret() -> None:
    found = judged(a_cluster(), {})

    assert (found.tls, found.login, found.problems, found.barred) == (None, None, (), "")
    assert wanted_by(a_cluster()) == []


def test_certificates_and_user_are_found_in_their_secrets(
    everything: dict[str, Found], pair: tuple[bytes, bytes, bytes]
) -> None:
    found = judged(SECURED, everything)

    assert found.tls is not None
    assert (found.tls.certificate, found.tls.key, found.tls.ca) == pair
    assert found.login == Login("root", "secret")
    assert (found.problems, found.barred) == ((), "")


@pytest.mark.parametrize(
    ("name", "barred", "command"),
    [
        ("etcd-peer-tls", False, "--from-file=peer.crt --from-file=peer.key --from-file=peer-ca.crt"),
        ("etcd-server-tls", False, "--from-file=server.crt --from-file=server.key --from-file=server-ca.crt"),
        ("etcd-client-tls", True, "--from-file=etcd-client.crt --from-file=etcd-client.key"),
        ("root", True, "--from-literal=username=... --from-literal=password=..."),
    ],
)
def test_a_secret_that_is_missing_is_told_with_the_command_that_makes_it(
    everything: dict[str, Found], name: str, barred: bool, command: str
) -> None:
    found = judged(SECURED, {**everything, name: None})

    (problem,) = found.problems
    assert problem.reason == "SecretMissing"
    assert problem.sentence.startswith(f"Secret {name} is not there, and spec.")
    assert f"kubectl create secret generic {name} -n prod {command}" in problem.sentence
    assert found.barred == (problem.sentence if barred else "")


def test_a_secret_without_a_key_that_is_needed_says_which(everything: dict[str, Found]) -> None:
    (problem,) = judged(SECURED, {**everything, "root": {"username": b"root"}}).problems

    assert problem.sentence.startswith("Secret root lacks password, and spec.authSecret names it")


def test_certificates_that_are_none_are_told_and_not_used(everything: dict[str, Found]) -> None:
    nonsense = {"etcd-client.crt": b"x", "etcd-client.key": b"y", "etcd-client-ca.crt": b"z"}
    found = judged(SECURED, {**everything, "etcd-client-tls": nonsense})

    (problem,) = found.problems
    assert (problem.reason, found.tls) == ("SecretUnusable", None)
    assert problem.sentence == found.barred
    assert found.login is not None


def test_a_secret_that_may_not_be_read_says_so(everything: dict[str, Found]) -> None:
    (problem,) = judged(SECURED, {**everything, "root": Withheld("secrets is forbidden")}).problems

    assert (problem.reason, "secrets is forbidden" in problem.sentence) == ("SecretForbidden", True)


def test_no_problem_and_no_access_shows_what_is_in_a_secret(everything: dict[str, Found]) -> None:
    broken = {**everything, "etcd-client-tls": {"etcd-client.crt": b"private"}}
    text = repr(judged(SECURED, everything)) + repr(judged(SECURED, broken))

    assert "private" not in text
    assert "'secret'" not in text


def test_peers_with_certificates_need_only_theirs(everything: dict[str, Found]) -> None:
    assert [wanted.name for wanted in wanted_by(a_cluster(TLS=PEER_TLS))] == ["etcd-peer-tls"]
    assert judged(a_cluster(TLS=PEER_TLS), everything).tls is None
