"""Every way to prove who we are, against the real API server, and what happens when credentials change or fail."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import trustme

from etcd_operator.kube.client import Client
from etcd_operator.kube.connection import Connection
from etcd_operator.kube.errors import (
    ConfigurationError,
    ForbiddenError,
    NotFoundError,
    UnauthorizedError,
    UnreachableError,
)
from etcd_operator.kube.in_cluster import in_cluster
from etcd_operator.kube.kubeconfig import from_kubeconfig
from etcd_operator.kube.port_forward import tunnel
from etcd_operator.kube.resources import CONFIG_MAPS, SECRETS
from etcd_operator.kube.surroundings import user_agent
from tests.box.driving import Box
from tests.box.kube.kubeconfigs import Admin, Entry, new_token, write_kubeconfig
from tests.box.kube.notes import note
from tests.box.kube.proxy import proxy

ALWAYS = "kube-root-ca.crt"  # a config map that is in every namespace

PLUGIN = """
import json, os, pathlib, sys
tokens = pathlib.Path(sys.argv[1])
told = json.loads(os.environ["KUBERNETES_EXEC_INFO"])
assert told["spec"]["interactive"] is False
if len(sys.argv) > 2:
    assert told["spec"]["cluster"]["server"] == sys.argv[2], told
first, _, rest = tokens.read_text().partition("\\n")
tokens.write_text(rest)
print(json.dumps({"kind": "ExecCredential", "apiVersion": told["apiVersion"], "status": json.loads(first)}))
"""


@pytest.fixture(scope="module")
def admin(box: Box) -> Admin:
    return Admin(box)


@pytest.fixture(scope="module")
def token(box: Box, place: str) -> str:
    return new_token(box, place)


def client_of(connection: Connection) -> Client:
    return Client(connection, user_agent=user_agent("tests"))


def as_user(folder: Path, admin: Admin, **user: Any) -> Client:
    return client_of(from_kubeconfig(files=(write_kubeconfig(folder, cluster=admin.cluster, user=user),)))


def plugin(folder: Path, *answers: Entry, told_of: str = "", version: str = "v1") -> Entry:
    """A program that gives these answers, one after the other."""
    (folder / "plugin.py").write_text(PLUGIN)
    (folder / "answers").write_text("".join(json.dumps(answer) + "\n" for answer in answers))
    return {
        "apiVersion": f"client.authentication.k8s.io/{version}",
        "command": sys.executable,
        "args": [str(folder / "plugin.py"), str(folder / "answers"), *([told_of] if told_of else [])],
        "interactiveMode": "Never",
        "provideClusterInfo": bool(told_of),
    }


async def test_a_token_says_who_we_are_and_what_we_may_not(
    tmp_path: Path, admin: Admin, token: str, place: str
) -> None:
    async with as_user(tmp_path, admin, token=token) as client:
        assert await client.get(CONFIG_MAPS, ALWAYS, namespace=place)
        with pytest.raises(ForbiddenError, match=f"system:serviceaccount:{place}:default.*cannot list.*secrets"):
            await client.list(SECRETS, namespace=place)


async def test_nobody_is_forbidden_and_an_unknown_token_is_not_let_in(tmp_path: Path, admin: Admin, place: str) -> None:
    async with as_user(tmp_path, admin) as client:
        with pytest.raises(ForbiddenError, match="system:anonymous"):
            await client.get(CONFIG_MAPS, ALWAYS, namespace=place)
    async with as_user(tmp_path, admin, token="unknown") as client:
        with pytest.raises(UnauthorizedError, match="Unauthorized"):
            await client.get(CONFIG_MAPS, ALWAYS, namespace=place)


async def test_a_token_file_that_is_replaced_is_in_use_with_the_next_request(
    tmp_path: Path, admin: Admin, token: str, place: str
) -> None:
    file = tmp_path / "token"
    file.write_text("expired")
    async with as_user(tmp_path, admin, tokenFile="token") as client:
        with pytest.raises(UnauthorizedError):
            await client.get(CONFIG_MAPS, ALWAYS, namespace=place)

        (tmp_path / "next").write_text(f"{token}\n")
        (tmp_path / "next").rename(file)
        assert await client.get(CONFIG_MAPS, ALWAYS, namespace=place)

        file.unlink()
        assert await client.get(CONFIG_MAPS, ALWAYS, namespace=place)


async def test_a_client_certificate_that_is_replaced_is_in_use_with_the_next_request(
    tmp_path: Path, admin: Admin, place: str
) -> None:
    stranger = trustme.CA().issue_cert("stranger@example.com")
    certificate, key = tmp_path / "tls.crt", tmp_path / "tls.key"
    certificate.write_bytes(stranger.cert_chain_pems[0].bytes())
    key.write_bytes(stranger.private_key_pem.bytes())
    user = {"client-certificate": "tls.crt", "client-key": str(key)}
    async with as_user(tmp_path, admin, **user) as client:
        with pytest.raises((UnauthorizedError, UnreachableError)):
            await client.get(CONFIG_MAPS, ALWAYS, namespace=place)

        certificate.write_bytes(admin.certificate)
        with pytest.raises(
            (UnauthorizedError, UnreachableError)
        ):  # still the old pair: these two do not belong together
            await client.get(CONFIG_MAPS, ALWAYS, namespace=place)
        key.write_bytes(admin.key)
        assert (await client.list(SECRETS, namespace=place)).resource_version


async def test_an_authority_that_is_replaced_is_trusted_with_the_next_request(
    tmp_path: Path, admin: Admin, token: str, place: str
) -> None:
    authority = tmp_path / "ca.crt"
    authority.write_bytes(trustme.CA().cert_pem.bytes())
    cluster = {"server": admin.server, "certificate-authority": "ca.crt"}
    file = write_kubeconfig(tmp_path, cluster=cluster, user={"token": token})
    async with client_of(from_kubeconfig(files=(file,))) as client:
        with pytest.raises(UnreachableError, match="certificate verify failed") as refused:
            await client.get(CONFIG_MAPS, ALWAYS, namespace=place)
        assert not refused.value.sent

        authority.write_bytes(admin.authority)
        assert await client.get(CONFIG_MAPS, ALWAYS, namespace=place)


async def test_inside_a_pod_the_mounted_account_is_used(tmp_path: Path, admin: Admin, token: str, place: str) -> None:
    url = urlsplit(admin.server)
    (tmp_path / "ca.crt").write_bytes(admin.authority)
    (tmp_path / "token").write_text(token)
    (tmp_path / "namespace").write_text(place)
    environment = {"KUBERNETES_SERVICE_HOST": str(url.hostname), "KUBERNETES_SERVICE_PORT": str(url.port)}

    connection = in_cluster(environment, folder=tmp_path)

    assert connection.namespace == place
    async with client_of(connection) as client:
        assert await client.get(CONFIG_MAPS, ALWAYS, namespace=connection.namespace)


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
async def test_a_program_gives_the_token(tmp_path: Path, admin: Admin, token: str, place: str, version: str) -> None:
    command = plugin(tmp_path, {"token": token}, told_of=admin.server, version=version)
    async with as_user(tmp_path, admin, exec=command) as client:
        await asyncio.gather(*(client.get(CONFIG_MAPS, ALWAYS, namespace=place) for _ in range(3)))


async def test_a_program_is_asked_again_when_its_token_is_refused_and_the_request_is_done_once(
    tmp_path: Path, admin: Admin, token: str, place: str
) -> None:
    command = plugin(tmp_path, {"token": "revoked"}, {"token": token})
    async with as_user(tmp_path, admin, exec=command) as client:
        assert await client.create(CONFIG_MAPS, note("after-401", place))
        assert await client.get(CONFIG_MAPS, "after-401", namespace=place)


async def test_a_program_is_asked_again_for_a_connection_that_stays(
    box: Box, tmp_path: Path, admin: Admin, place: str
) -> None:
    pair = {"clientCertificateData": admin.certificate.decode(), "clientKeyData": admin.key.decode()}
    command = plugin(tmp_path, {"token": "revoked"}, pair)
    async with as_user(tmp_path, admin, exec=command) as client:
        with pytest.raises(NotFoundError, match='pods "nobody" not found'):
            async with tunnel(client, "nobody", namespace=place, port=1):
                pass
    assert (tmp_path / "answers").read_text() == ""


async def test_a_program_is_asked_again_when_its_token_ends(
    tmp_path: Path, admin: Admin, token: str, place: str
) -> None:
    ended = {"token": token, "expirationTimestamp": "2020-01-01T00:00:00Z"}
    command = plugin(tmp_path, ended, {"token": token})
    async with as_user(tmp_path, admin, exec=command) as client:
        await client.get(CONFIG_MAPS, ALWAYS, namespace=place)
        await client.get(CONFIG_MAPS, ALWAYS, namespace=place)
        await client.get(CONFIG_MAPS, ALWAYS, namespace=place)
    assert (tmp_path / "answers").read_text() == ""


async def test_a_program_gives_a_certificate(tmp_path: Path, admin: Admin, place: str) -> None:
    pair = {"clientCertificateData": admin.certificate.decode(), "clientKeyData": admin.key.decode()}
    async with as_user(tmp_path, admin, exec=plugin(tmp_path, pair)) as client:
        assert (await client.list(SECRETS, namespace=place)).resource_version


async def test_a_program_that_is_not_there_is_named_with_the_hint_how_to_get_it(
    tmp_path: Path, admin: Admin, place: str
) -> None:
    command = {**plugin(tmp_path), "command": "no-such-program", "installHint": "get it from your cloud"}
    async with as_user(tmp_path, admin, exec=command) as client:
        with pytest.raises(ConfigurationError, match=r"no-such-program of user 'u'.*No such file.*\nget it from"):
            await client.get(CONFIG_MAPS, ALWAYS, namespace=place)


async def test_what_a_kubeconfig_says_to_act_as_is_who_we_are(tmp_path: Path, admin: Admin, place: str) -> None:
    (tmp_path / "tls.crt").write_bytes(admin.certificate)
    (tmp_path / "tls.key").write_bytes(admin.key)
    user = {
        "client-certificate": "tls.crt",
        "client-key": "tls.key",
        "as": "jane",
        "as-groups": ["a", "system:masters"],
    }
    async with as_user(tmp_path, admin, **user) as client:
        assert (await client.list(SECRETS, namespace=place)).resource_version
    async with as_user(tmp_path, admin, **{**user, "as-groups": ["a", "b"]}) as client:
        with pytest.raises(ForbiddenError, match='User "jane" cannot'):
            await client.list(SECRETS, namespace=place)


async def test_a_server_is_known_by_another_name_or_not_at_all_if_the_kubeconfig_says_so(
    tmp_path: Path, admin: Admin, token: str, place: str
) -> None:
    async def works(**changes: Any) -> bool:
        cluster = {key: value for key, value in {**admin.cluster, **changes}.items() if value is not None}
        file = write_kubeconfig(tmp_path, cluster=cluster, user={"token": token})
        async with client_of(from_kubeconfig(files=(file,))) as client:
            return bool(await client.get(CONFIG_MAPS, ALWAYS, namespace=place))

    assert await works(**{"tls-server-name": "kubernetes.default.svc"})
    assert await works(**{"certificate-authority-data": None, "insecure-skip-tls-verify": True})
    with pytest.raises(UnreachableError, match="Hostname mismatch"):
        await works(**{"tls-server-name": "another.example.com"})
    with pytest.raises(UnreachableError, match="certificate verify failed"):
        await works(**{"certificate-authority-data": None})


async def test_the_way_may_lead_through_a_proxy(tmp_path: Path, admin: Admin, token: str, place: str) -> None:
    async with proxy() as (address, targets):
        cluster = {**admin.cluster, "proxy-url": address}
        file = write_kubeconfig(tmp_path, cluster=cluster, user={"token": token})
        async with client_of(from_kubeconfig(files=(file,))) as client:
            assert await client.get(CONFIG_MAPS, ALWAYS, namespace=place)

    assert targets == [urlsplit(admin.server).netloc]
