"""Who we are to the API server, asked for again with every request.

A login is a value: headers and perhaps a client certificate. Sources look at their files each time they are asked (see
`watched_file`), so a rotated token is in use with the next request. When the server refuses a login with 401 the source
is told which one, gets a chance to find a newer, and the request is sent once more: a 401 has done nothing.
"""

from __future__ import annotations

import base64
from typing import Protocol

import msgspec

from etcd_operator.kube.errors import ConfigurationError
from etcd_operator.kube.tls import Certificate, Pem, content
from etcd_operator.kube.watched_file import WatchedFile

Headers = tuple[tuple[str, str], ...]


class Login(msgspec.Struct, frozen=True):
    """What one request carries to prove who sends it."""

    headers: Headers = ()
    certificate: Certificate | None = None

    def __repr__(self) -> str:
        return f"Login(headers={[name for name, _ in self.headers]}, certificate={self.certificate is not None})"


class Credentials(Protocol):
    """Where logins come from."""

    async def login(self, *, rejected: Login | None = None) -> Login:
        """The present login; if it is the one just rejected, a newer one where there is any."""


class FixedHeaders:
    """Nobody in particular, or whoever the headers say: a proxy in front may know us."""

    def __init__(self, headers: Headers = ()) -> None:
        self._login = Login(headers)

    async def login(self, *, rejected: Login | None = None) -> Login:  # noqa: ARG002 - there is no other
        return self._login


class Token:
    """A bearer token, usually a service account's, which the kubelet renews in its file long before it ends."""

    def __init__(self, token: str | WatchedFile) -> None:
        self._token = token

    async def login(self, *, rejected: Login | None = None) -> Login:
        if isinstance(self._token, str):
            return bearer(self._token)
        found = bearer(_text(self._token))
        if found == rejected:
            self._token.forget()
            found = bearer(_text(self._token))
        return found


class ClientCertificate:
    """A client certificate; from files, it may be renewed."""

    def __init__(self, *, chain: Pem, key: Pem) -> None:
        self._chain = chain
        self._key = key
        self._login: Login | None = None

    async def login(self, *, rejected: Login | None = None) -> Login:
        if self._login is not None and self._login == rejected:
            for pem in (self._chain, self._key):
                if isinstance(pem, WatchedFile):
                    pem.forget()
        chain, key = content(self._chain), content(self._key)
        known = self._login.certificate if self._login else None
        if self._login is None or known is None or (known.chain, known.key) != (chain, key):
            self._login = Login(certificate=Certificate(chain=chain, key=key))
        return self._login


class Together:
    """Several at once, as a kubeconfig may have a certificate, a token and somebody to act as."""

    def __init__(self, parts: tuple[Credentials, ...]) -> None:
        self._parts = parts

    async def login(self, *, rejected: Login | None = None) -> Login:
        found = await self._joined(rejected=None)
        return found if rejected is None or found != rejected else await self._joined(rejected=rejected)

    async def _joined(self, *, rejected: Login | None) -> Login:
        headers: Headers = ()
        certificate: Certificate | None = None
        for part in self._parts:
            own = await part.login()
            if rejected is not None:
                own = await part.login(rejected=own)
            headers += own.headers
            certificate = own.certificate or certificate
        return Login(headers, certificate)


def bearer(token: str) -> Login:
    if not token.isprintable() or " " in token:
        raise ConfigurationError("the token has blanks or line breaks in it, so it is none")
    return Login((("Authorization", f"Bearer {token}"),))


def basic(username: str, password: str) -> Headers:
    word = base64.b64encode(f"{username}:{password}".encode()).decode()
    return (("Authorization", f"Basic {word}"),)


def _text(file: WatchedFile) -> str:
    try:
        token = file.read().decode().strip()
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"the token file {file.path} holds no text") from error
    if not token:
        raise ConfigurationError(f"the token file {file.path} is empty")
    return token
