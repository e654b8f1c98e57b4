"""From a context of a kubeconfig to the way to its cluster.

What a user wrote and we would pass over in silence could send requests to the wrong place, or with more rights than
meant; so what we cannot do is refused by name. Where an entry has both data and a file, data wins, as in kubectl; a
token file wins over a token. A proxy is used where the cluster's entry names one; the environment's is not looked at.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec

from etcd_operator.kube import kubeconfig_files
from etcd_operator.kube.connection import Connection
from etcd_operator.kube.credentials import ClientCertificate, Credentials, FixedHeaders, Headers, Together, Token, basic
from etcd_operator.kube.errors import ConfigurationError
from etcd_operator.kube.exec_plugin import ClusterInfo, ExecPlugin, PluginCommand
from etcd_operator.kube.kubeconfig_files import Entry
from etcd_operator.kube.tls import Pem, Trust, content
from etcd_operator.kube.watched_file import WatchedFile

_IN_HEADER_NAMES = "!#$&'*+^`|"  # beside what is never quoted


class Cluster(msgspec.Struct, frozen=True, rename="kebab"):
    """Where it is and how to know it."""

    server: str = ""
    certificate_authority: str = ""
    certificate_authority_data: str = ""
    insecure_skip_tls_verify: bool = False
    tls_server_name: str = ""
    proxy_url: str = ""
    extensions: list[dict[str, Any]] = []


class User(msgspec.Struct, frozen=True, rename="kebab"):
    """Who to be there."""

    client_certificate: str = ""
    client_certificate_data: str = ""
    client_key: str = ""
    client_key_data: str = ""
    token: str = ""
    token_file: str = msgspec.field(default="", name="tokenFile")
    username: str = ""
    password: str = ""
    exec: PluginCommand | None = None
    auth_provider: dict[str, Any] | None = None
    other_user: str = msgspec.field(default="", name="as")
    other_uid: str = msgspec.field(default="", name="as-uid")
    other_groups: tuple[str, ...] = msgspec.field(default=(), name="as-groups")
    other_extra: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict, name="as-user-extra")


class Context(msgspec.Struct, frozen=True):
    """Which user of which cluster, and where when no namespace is named."""

    cluster: str = ""
    user: str = ""
    namespace: str = ""


def from_kubeconfig(
    *, files: Sequence[Path] = (), context: str | None = None, environment: Mapping[str, str] = os.environ
) -> Connection:
    """By the given files, or else those that the environment names; by the given context, or else the current one."""
    config = kubeconfig_files.read(files or kubeconfig_files.paths(environment))
    chosen = config.context(context)
    names = chosen.read(Context)
    cluster_entry = config.entry("cluster", names.cluster, wanted_by=chosen)
    cluster = cluster_entry.read(Cluster)
    trust = _trust(cluster, cluster_entry)
    credentials: Credentials = FixedHeaders()
    if names.user:
        user_entry = config.entry("user", names.user, wanted_by=chosen)
        credentials = _credentials(
            user_entry, cluster_info=partial(_cluster_info, cluster, trust), environment=environment
        )
    try:
        return Connection(
            server=cluster.server,
            credentials=credentials,
            trust=trust,
            namespace=names.namespace or "default",
            server_name=cluster.tls_server_name or None,
            proxy=cluster.proxy_url or None,
        )
    except ConfigurationError as problem:
        raise cluster_entry.error(str(problem)) from problem


def _trust(cluster: Cluster, entry: Entry) -> Trust:
    authority = _pem(
        entry, data=cluster.certificate_authority_data, path=cluster.certificate_authority, role="certificate authority"
    )
    if cluster.insecure_skip_tls_verify and authority is not None:
        raise entry.error("it names a certificate authority and says insecure-skip-tls-verify; only one can be meant")
    return Trust(authority=authority, verify=not cluster.insecure_skip_tls_verify)


def _credentials(entry: Entry, *, cluster_info: ClusterInfo, environment: Mapping[str, str]) -> Credentials:
    user = entry.read(User)
    if user.auth_provider is not None:
        name = user.auth_provider.get("name", "?")
        raise entry.error(f"the auth-provider {name!r} went away with Kubernetes 1.26; its successor is an exec plugin")
    parts: list[Credentials] = []
    if (certificate := _certificate(user, entry)) is not None:
        parts.append(certificate)
    if user.token_file:
        parts.append(Token(WatchedFile(entry.beside(user.token_file), role="token file")))
    elif user.token:
        parts.append(Token(user.token))
    elif user.username:
        parts.append(FixedHeaders(basic(user.username, user.password)))
    elif user.exec is not None:
        command = user.exec.beside(entry.file.parent)
        parts.append(ExecPlugin(command, cluster_info=cluster_info, environment=environment, owner=entry.name))
    if headers := _impersonation(user, entry):
        parts.append(FixedHeaders(headers))
    return parts[0] if len(parts) == 1 else Together(tuple(parts))


def _certificate(user: User, entry: Entry) -> ClientCertificate | None:
    chain = _pem(entry, data=user.client_certificate_data, path=user.client_certificate, role="client certificate")
    key = _pem(entry, data=user.client_key_data, path=user.client_key, role="client key")
    if chain is None and key is None:
        return None
    if chain is None or key is None:
        raise entry.error(
            f"it has no client {'certificate' if chain is None else 'key'}, only the other half of the pair"
        )
    return ClientCertificate(chain=chain, key=key)


def _impersonation(user: User, entry: Entry) -> Headers:
    if not user.other_user:
        if user.other_uid or user.other_groups or user.other_extra:
            raise entry.error("as-uid, as-groups and as-user-extra need an `as`")
        return ()
    headers = [("Impersonate-User", user.other_user)]
    if user.other_uid:
        headers.append(("Impersonate-Uid", user.other_uid))
    headers += [("Impersonate-Group", group) for group in user.other_groups]
    for key, values in user.other_extra.items():
        # Keys often hold a slash, which the name of a header cannot.
        headers += [(f"Impersonate-Extra-{quote(key, safe=_IN_HEADER_NAMES)}", value) for value in values]
    return tuple(headers)


def _pem(entry: Entry, *, data: str, path: str, role: str) -> Pem | None:
    if data:
        try:
            # Line breaks in it are nothing, as in kubectl: some wrap the data like PEM.
            return base64.b64decode(data.replace("\r", "").replace("\n", ""), validate=True)
        except ValueError as problem:
            raise entry.error(f"the data of the {role} is not base64: {problem}") from problem
    return WatchedFile(entry.beside(path), role=role) if path else None


def _cluster_info(cluster: Cluster, trust: Trust) -> dict[str, Any]:
    """What an exec plugin is told of the cluster, if it asks to be."""
    info: dict[str, Any] = {"server": cluster.server, "config": None}
    if cluster.tls_server_name:
        info["tls-server-name"] = cluster.tls_server_name
    if cluster.insecure_skip_tls_verify:
        info["insecure-skip-tls-verify"] = True
    if trust.authority is not None:
        info["certificate-authority-data"] = base64.b64encode(content(trust.authority)).decode()
    if cluster.proxy_url:
        info["proxy-url"] = cluster.proxy_url
    for extension in cluster.extensions:
        if extension.get("name") == "client.authentication.k8s.io/exec":
            info["config"] = extension.get("extension")
    return info
