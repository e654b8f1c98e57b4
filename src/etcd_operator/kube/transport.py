"""Sends requests to one API server: with the present login, within the budget, before the deadline, and only once.

- The deadline is for everything together: waiting for the budget and for room, connecting, asking, reading.
- A mutation is never repeated: a lost answer says nothing about its effect. aiohttp by itself asks again, once, when a
  kept connection turns out to be closed; it is let do so for reads alone.
- The one repetition of ours is after 401 with another login, as a request that was refused so has done nothing.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from urllib.parse import quote, urlencode
from weakref import WeakSet

import aiohttp

from etcd_operator.kube.budget import Budget
from etcd_operator.kube.calls import Call, Listener, code, resource, verb
from etcd_operator.kube.connection import Connection
from etcd_operator.kube.credentials import Login
from etcd_operator.kube.errors import ApiError, DeadlineExceededError, UnreachableError, refusal
from etcd_operator.kube.requests import Query, Request
from etcd_operator.kube.tls import Contexts

CALL_SECONDS = 10.0
FAREWELL = 1.0
IN_FLIGHT = 100  # calls at a time; streams do not count, or many of them would leave no room for calls


class _Ending:
    """How a call ended, as far as it is known; 0 is no answer."""

    status = 0


class Transport:
    """One aiohttp session, made when the first request needs it; `listener` is told of every call when it has ended."""

    def __init__(
        self,
        connection: Connection,
        *,
        user_agent: str,
        budget: Budget | None = None,
        listener: Listener | None = None,
    ) -> None:
        self.connection = connection
        self._listener = listener
        self._base = connection.server.rstrip("/")
        self._budget = budget or Budget()
        self._contexts = Contexts(connection.trust)
        self._room = asyncio.Semaphore(IN_FLIGHT)
        # Compression is off: on a cluster's network it costs both sides more processor time than it saves on the way.
        self._headers = (("User-Agent", user_agent), ("Accept-Encoding", "identity"))
        self._session: aiohttp.ClientSession | None = None
        self._sockets: WeakSet[socket.socket] = WeakSet()

    async def close(self) -> None:
        """Returns when all connections are closed, or almost: those of TLS take their leave of the server first."""
        if self._session is not None:
            await self._session.close()
        with suppress(TimeoutError):
            async with asyncio.timeout(FAREWELL):
                while any(made.fileno() >= 0 for made in self._sockets):  # noqa: ASYNC110 - nobody tells when
                    await asyncio.sleep(0.01)

    async def login(self, *, deadline: float) -> None:
        """Gets credentials now: a program that asks a person for them needs longer than a call has."""
        try:
            async with asyncio.timeout(deadline):
                await self.connection.credentials.login()
        except TimeoutError:
            raise DeadlineExceededError(f"no credentials within {deadline:g} s", sent=False) from None

    async def call(self, request: Request, *, deadline: float = CALL_SECONDS) -> bytes:
        """The body of the answer."""
        async with self._in_time(request, deadline) as ending, self._room:
            response = await self._answer(request)
            async with response:
                body = await response.read()
            ending.status = response.status
            return body

    @asynccontextmanager
    async def stream(
        self, request: Request, *, deadline: float = CALL_SECONDS
    ) -> AsyncGenerator[aiohttp.ClientResponse, None]:
        """An answer to be read bit by bit (see `chunks`); the deadline is for its beginning."""
        async with self._in_time(request, deadline) as ending:
            response = await self._answer(request)
            ending.status = response.status
        try:
            yield response
        finally:
            if response.connection is not None and response.connection.transport is not None:
                response.connection.transport.abort()  # no farewell to a server that is in the middle of sending
            response.close()

    async def chunks(
        self, request: Request, response: aiohttp.ClientResponse, *, silence: float | None
    ) -> AsyncGenerator[bytes, None]:
        """What comes, as it comes, until the end; `silence` seconds without a byte are an error."""
        while True:
            try:
                async with asyncio.timeout(silence):
                    chunk = await response.content.readany()
            except TimeoutError:
                raise UnreachableError(f"{request}: nothing came from {self._base} for {silence:g} s") from None
            except aiohttp.ClientError as error:
                raise self._unreachable(request, error) from error
            if not chunk:
                return
            yield chunk

    @asynccontextmanager
    async def websocket(
        self, request: Request, *, protocol: str, deadline: float = CALL_SECONDS
    ) -> AsyncGenerator[aiohttp.ClientWebSocketResponse, None]:
        """A connection for both directions; the deadline is for its beginning."""
        async with self._in_time(request, deadline) as ending:
            opened = await self._upgrade(request, protocol)
            ending.status = 101
        async with opened:
            yield opened

    async def _upgrade(self, request: Request, protocol: str) -> aiohttp.ClientWebSocketResponse:
        login = await self.connection.credentials.login()
        try:
            return await self._knock(request, protocol, login)
        except aiohttp.WSServerHandshakeError as error:
            fresh = login if error.status != 401 else await self.connection.credentials.login(rejected=login)
            if fresh == login:
                raise await self._explained(request, error) from error
        try:
            return await self._knock(request, protocol, fresh)
        except aiohttp.WSServerHandshakeError as error:
            raise await self._explained(request, error) from error

    async def _knock(self, request: Request, protocol: str, login: Login) -> aiohttp.ClientWebSocketResponse:
        return await self._live().ws_connect(
            self._url(request.path, request.query),
            protocols=(protocol,),
            headers=[*self._headers, *login.headers],
            ssl=self._tls(login),
            server_hostname=self.connection.server_name,
            proxy=self.connection.proxy,
        )

    async def _explained(self, request: Request, error: aiohttp.WSServerHandshakeError) -> ApiError:
        """Aiohttp drops the body of a refusal, which says why; so the same is asked without an upgrade."""
        try:
            (await self._answer(request)).close()
        except ApiError as words:
            if words.status == error.status:
                return words
        return refusal(error.status, b"", request=str(request))

    async def _answer(self, request: Request) -> aiohttp.ClientResponse:
        """An answer that is no refusal, its body still to be read."""
        login = await self.connection.credentials.login()
        response = await self._ask(request, login)
        if response.status == 401:
            body = await _body(response)
            fresh = await self.connection.credentials.login(rejected=login)
            if fresh == login:
                raise refusal(401, body, request=str(request))
            response = await self._ask(request, fresh)
        if response.status >= 300:  # a redirection too: whoever sends us elsewhere has not done what was asked
            after = response.headers.get("Retry-After")
            raise refusal(response.status, await _body(response), retry_after=after, request=str(request))
        return response

    async def _ask(self, request: Request, login: Login) -> aiohttp.ClientResponse:
        headers = [*self._headers, ("Accept", request.accept), *login.headers]
        if request.body is not None:
            headers.append(("Content-Type", request.content_type))
        return await self._live().request(
            request.method,
            self._url(request.path, request.query),
            headers=headers,
            data=request.body,
            allow_redirects=False,
            ssl=self._tls(login),
            server_hostname=self.connection.server_name,
            proxy=self.connection.proxy,
            middlewares=(_only_once,) if request.mutates else (),
        )

    def _tls(self, login: Login) -> ssl.SSLContext | bool:
        return self._contexts.context(login.certificate) if self.connection.secure else True

    def _url(self, path: str, query: Query) -> str:
        return f"{self._base}{path}?{urlencode(query, quote_via=quote)}" if query else self._base + path

    def _unreachable(self, request: Request, error: aiohttp.ClientError) -> UnreachableError:
        if isinstance(error, aiohttp.ClientConnectorError):
            return UnreachableError(f"{request}: {self._base} cannot be reached: {_why(error.os_error)}", sent=False)
        return UnreachableError(f"{request}: the connection to {self._base} broke: {_why(error)}")

    @asynccontextmanager
    async def _in_time(self, request: Request, deadline: float) -> AsyncGenerator[_Ending, None]:
        """Within the deadline; whoever listens is told of the end, unless it is that nobody wants to know any more."""
        ending, begun = _Ending(), asyncio.get_running_loop().time()
        try:
            async with self._within(request, deadline):
                yield ending
        except Exception as error:
            self._tell(request, code(error, ending.status), begun)
            raise
        self._tell(request, code(None, ending.status), begun)

    def _tell(self, request: Request, ended: str, begun: float) -> None:
        if self._listener is not None:
            seconds = asyncio.get_running_loop().time() - begun
            self._listener(Call(verb(request), resource(request), ended, seconds))

    @asynccontextmanager
    async def _within(self, request: Request, deadline: float) -> AsyncGenerator[None, None]:
        """Waits for the budget, then for what is inside, all within the deadline; what breaks becomes our error."""
        wait = self._budget.take(now=asyncio.get_running_loop().time(), at_most=max(0.0, deadline))
        if wait is None:
            raise DeadlineExceededError(
                f"{request}: not sent, as this program's own budget of requests is used up for more than the "
                f"{deadline:g} s that the call has",
                sent=False,
            )
        try:
            async with asyncio.timeout(deadline):
                if wait:
                    await asyncio.sleep(wait)
                yield
        except TimeoutError:
            spent = f", of which {wait:.1f} s went into waiting for the budget of requests" if wait else ""
            message = f"{request}: no answer from {self._base} within {deadline:g} s{spent}"
            raise DeadlineExceededError(message) from None
        except aiohttp.ClientError as error:
            raise self._unreachable(request, error) from error

    def _live(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, socket_factory=self._socket),
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=None),
                cookie_jar=aiohttp.DummyCookieJar(),
            )
        return self._session

    def _socket(self, address: aiohttp.AddrInfoType) -> socket.socket:
        """A stream may be quiet for hours: TCP asks whether the other side is there, and gives up on it in a minute."""
        family, kind, protocol, *_ = address
        made = socket.socket(family, kind, protocol)
        self._sockets.add(made)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for option, value in (("TCP_KEEPIDLE", 30), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 3)):
            if hasattr(socket, option):
                made.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)
        return made


class _LostAnswerError(aiohttp.ClientError):
    """Not one of those after which aiohttp repeats what it takes for idempotent, PUT and DELETE among it."""


async def _only_once(request: aiohttp.ClientRequest, send: aiohttp.ClientHandlerType) -> aiohttp.ClientResponse:
    try:
        return await send(request)
    except aiohttp.ClientConnectorError:
        raise  # not repeated anyway, and nothing was sent
    except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError) as error:
        raise _LostAnswerError(_why(error)) from error


async def _body(response: aiohttp.ClientResponse) -> bytes:
    async with response:
        return await response.read()


def _why(error: BaseException) -> str:
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return text or type(error).__name__
