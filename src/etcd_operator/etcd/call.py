"""How one call is made: dial, log in, send once, and say truthfully what came of it.

The order is what makes the errors trustworthy. First the connection: without one, nothing was sent. Then the questions
that must be settled before a change may leave: is this the member that was meant, and does its version know the call.
Then the call itself, once. A token that is too old is the one thing that is tried again, because a call refused for
its token was not looked at.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from typing import Protocol, TypeAlias

import grpc
import grpc.aio
from google.protobuf.message import DecodeError, Message

from etcd_operator.etcd import methods
from etcd_operator.etcd.capabilities import read_version, require
from etcd_operator.etcd.errors import EtcdError, NoAnswerError, NotReachedError, Reason, RefusedError, WrongMemberError
from etcd_operator.etcd.line import Line, Login, Target
from etcd_operator.etcd.methods import Answer, Method, Request
from etcd_operator.etcd.pb import rpc_pb2 as pb
from etcd_operator.etcd.refusals import error_for
from etcd_operator.etcd.tls import Tls
from etcd_operator.releases.capabilities import Capability
from etcd_operator.releases.version import Version

READ = 2.0  # seconds
CHANGE = 8.0  # etcd itself gives up after 7 s: 5 s and two election timeouts

# Refused for the token, not for the request. A user name is empty when authentication was turned on since we looked.
STALE_TOKEN = frozenset({Reason.INVALID_TOKEN, Reason.OLD_AUTH_REVISION, Reason.USER_EMPTY})

# Answers that do not say who gave them: those about alarms up to 3.4, and snapshots.
UNSIGNED = frozenset({methods.ALARM_LIST.path, methods.SNAPSHOT.path})

Metadata = tuple[tuple[str, str], ...]

# Bytes on both sides: of an answer that it cannot read, grpc.aio would make None.
Unary: TypeAlias = "grpc.aio.UnaryUnaryMultiCallable[bytes, bytes]"


class Lines(Protocol):
    def line(self, target: Target, tls: Tls | None, *, until: float) -> AbstractAsyncContextManager[Line]: ...


def until_from(deadline: float) -> float:
    return asyncio.get_running_loop().time() + deadline


def seconds_left(until: float) -> float:
    return max(0.0, until - asyncio.get_running_loop().time())


def cancelled() -> bool:
    """Whether it is the caller's task that was cancelled: closing the channel under a call looks the same in gRPC."""
    task = asyncio.current_task()
    return bool(task and task.cancelling())


def unreadable(method: Method[Request, Answer], target: Target) -> EtcdError:
    """Some servers take names that are no UTF-8 and give them back. Whatever was asked for was done."""
    what = f"{method} on {target}"
    return error_for(grpc.StatusCode.INTERNAL, "the answer cannot be read", what=what, changes=method.changes)


@contextmanager
def unsent(method: Method[Request, Answer]) -> Iterator[None]:
    """What comes before a change: if a question is not answered there, the change has certainly not been made."""
    try:
        yield
    except NoAnswerError as error:
        if not method.changes:
            raise
        raise NotReachedError(f"{error}; {method} was not sent") from None


class Caller:
    """Makes calls to one member."""

    def __init__(
        self, lines: Lines, target: Target, *, tls: Tls | None, login: Login | None, version: Version | None
    ) -> None:
        self.target = target
        self._lines = lines
        self.tls = tls
        self._login = login
        self._version = version
        self._identified = target.member_id is not None or target.cluster_id is not None

    async def call(
        self,
        method: Method[Request, Answer],
        request: Request,
        *,
        deadline: float,
        needs: Capability | None = None,
    ) -> Answer:
        """One call, all of it within `deadline` seconds. `needs` is for a request that asks more than its method."""
        until = until_from(deadline)
        async with self.line(until) as line:
            with unsent(method):
                await self.settle(line, method, until=until, needs=needs)
            answer = await self._send(line, method, request, until=until)
        self.check(method, answer)
        return answer

    async def version(self, *, deadline: float = READ) -> Version:
        """Of the server's program; asked for once."""
        if self._version is None:
            answer = await self.call(methods.STATUS, pb.StatusRequest(), deadline=deadline)
            self._version = read_version(answer.version)
        return self._version

    def line(self, until: float) -> AbstractAsyncContextManager[Line]:
        return self._lines.line(self.target, self.tls, until=until)

    async def settle(
        self, line: Line, method: Method[Request, Answer], *, until: float, needs: Capability | None = None
    ) -> None:
        """What must be known before the request may leave; asks for the status if that tells it."""
        wanted = [capability for capability in (method.needs, needs) if capability]
        # An answer that names no member cannot be checked afterwards, and a change must not be.
        blind = self._identified and (method.changes or method.path in UNSIGNED)
        if blind or (wanted and not self._version):
            status = await self._send(line, methods.STATUS, pb.StatusRequest(), until=until)
            self.check(methods.STATUS, status)
            self._version = read_version(status.version)
        for capability in wanted:
            require(await self.version(), capability)

    async def metadata(self, line: Line, *, until: float) -> Metadata:
        """The token of our user on this member; empty where authentication is off or done by certificate."""
        if self._login is None:
            return ()
        if (token := line.tokens.get(self._login)) is None:
            token = line.tokens[self._login] = await self._authenticate(line, self._login, until=until)
        return (("token", token),) if token else ()

    async def introduce(self, other: Caller, *, deadline: float = READ) -> None:
        """Log in here, for calls to the other member: a learner takes no logins, but knows each one made while it runs.

        Both must have been dialled as the same user.
        """
        if self._login is None:
            return
        until = until_from(deadline)
        async with self.line(until) as line, other.line(until) as theirs:
            theirs.tokens[self._login] = await self._authenticate(line, self._login, until=until)

    def forget_token(self, line: Line, method: Method[Request, Answer], refusal: RefusedError) -> bool:
        """Whether the refusal is about a token, so that a new one may help; forgets the old one."""
        if self._login is None:
            return False
        token = line.tokens.get(self._login)  # None: a call beside this one was refused as well, and has forgotten it
        # Without a token 3.2 looks for a user without a name, and says that there is none.
        unseen = refusal.reason is Reason.USER_NOT_FOUND and not token
        # And a watch with a token that is too old is told that it has no permission.
        doubtful = refusal.reason is Reason.PERMISSION_DENIED and method.path == methods.WATCH.path
        if not (unseen or doubtful or refusal.reason in STALE_TOKEN):
            return False
        line.tokens.pop(self._login, None)
        return True

    def failure(self, method: Method[Request, Answer], error: grpc.aio.AioRpcError) -> EtcdError:
        what = f"{method} on {self.target}"
        return error_for(error.code(), error.details() or "", what=what, changes=method.changes)

    def cut_off(self, method: Method[Request, Answer]) -> EtcdError:
        what = f"{method} on {self.target}"
        return error_for(grpc.StatusCode.CANCELLED, "the pool was closed", what=what, changes=method.changes)

    def check(self, method: Method[Request, Answer], answer: Message) -> None:
        """Whether the member that was meant gave this answer. Some answers do not tell."""
        if not self._identified:
            return
        header: pb.ResponseHeader = answer.header  # type: ignore[attr-defined]
        for meant, found, what in (
            (self.target.member_id, header.member_id, "member"),
            (self.target.cluster_id, header.cluster_id, "cluster"),
        ):
            if meant is not None and found and found != meant:
                done = "; the change was made there" if method.changes else ""
                raise WrongMemberError(
                    f"{method} on {self.target}: {what} {found:x} answered, {meant:x} was meant{done}",
                    done=method.changes,
                )

    async def _authenticate(self, line: Line, login: Login, *, until: float) -> str:
        request = pb.AuthenticateRequest(name=login.user, password=login.password)
        try:
            answer = await self._send_once(line, methods.AUTHENTICATE, request, until=until, metadata=())
        except RefusedError as refusal:
            if refusal.reason is Reason.AUTH_NOT_ENABLED:
                return ""
            raise
        return answer.token

    async def _send(self, line: Line, method: Method[Request, Answer], request: Request, *, until: float) -> Answer:
        with unsent(method):
            metadata = await self.metadata(line, until=until)
        try:
            return await self._send_once(line, method, request, until=until, metadata=metadata)
        except RefusedError as refusal:
            if not self.forget_token(line, method, refusal):
                raise
        with unsent(method):
            metadata = await self.metadata(line, until=until)
        return await self._send_once(line, method, request, until=until, metadata=metadata)

    async def _send_once(
        self, line: Line, method: Method[Request, Answer], request: Request, *, until: float, metadata: Metadata
    ) -> Answer:
        await line.connect(until)
        if not (left := seconds_left(until)):
            raise NotReachedError(f"{method} on {self.target}: no time was left for it; nothing was sent")
        call: Unary = line.channel.unary_unary(f"/{method.path}")
        try:
            answer = await call(request.SerializeToString(), timeout=left, metadata=metadata)
            return method.answer.FromString(answer)
        except DecodeError:
            raise unreadable(method, self.target) from None
        except grpc.aio.AioRpcError as error:
            raise self.failure(method, error) from None
        except asyncio.CancelledError:
            if cancelled():
                raise
            raise self.cut_off(method) from None
