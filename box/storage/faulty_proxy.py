"""The proxy before an object storage, which makes it fail on demand.

`python3 -m box.storage.faulty_proxy --listen ADDRESS:PORT --upstream ADDRESS:PORT --rules FILE`

Every request that begins after a rule was set meets it, also on a connection that was open before; what is under way
goes on. `refuse` for all requests closes the listening socket, so the kernel itself refuses, and resets what is open;
for some requests only, the connection is reset once the request's head has told that it is meant.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import signal
import socket
import sys
from collections.abc import Sequence
from pathlib import Path

from box.layout import BoxError
from box.storage.http_wire import Framing, Head, Length, Wire, WireError, answer_body, request_body
from box.storage.rules import FaultFile, Rule

LOOK_SECONDS = 0.1
SLOW_STEPS = 10  # per second
ANSWER_SECONDS = 2.0

Address = tuple[str, int]


class Current:
    """The rule in force, and how many requests met it."""

    def __init__(self, file: FaultFile) -> None:
        self._file = file
        self._version: tuple[int, int] | None = None
        self._mark, self.rule, self._hits = "", Rule(), 0
        self._told: str | None = None
        self.changed = asyncio.Event()  # replaced by a fresh one with every change

    def look(self) -> None:
        """Take up a new rule, if there is one."""
        version = self._file.version()
        if version == self._version:
            return
        self._version = version
        try:
            self._mark, self.rule = self._file.get()
        except BoxError as error:
            self._mark, self.rule = "", Rule()
            print(error, flush=True)
        self._hits = 0
        before, self.changed = self.changed, asyncio.Event()
        before.set()
        print(self.rule.describe(), flush=True)

    def confirm(self) -> None:
        """Say which rule is followed, if nobody has heard it yet."""
        if self._told != self._mark or not self._file.answered():
            self._tell()

    def meet(self, head: Head) -> Rule | None:
        """Find the rule for a request that begins now."""
        self.look()
        if not self.rule.meets(method=head.method, target=head.target, earlier=self._hits):
            return None
        self._hits += 1
        if not self.refuses_all:
            self._tell()
        print(f"{head.method} {head.target[:200]}: {self.rule.mode}", flush=True)
        return self.rule

    def _tell(self) -> None:
        self._file.follow(self._mark, self._hits)
        self._told = self._mark

    @property
    def refuses_all(self) -> bool:
        return self.rule.mode == "refuse" and not self.rule.selective


class Proxy:
    """Accepts connections while the rule allows it."""

    def __init__(self, *, listen: Address, upstream: Address, current: Current) -> None:
        self._listen, self._upstream, self._current = listen, upstream, current
        self._connections: dict[asyncio.Task[None], Wire] = {}

    async def run(self) -> None:
        """Serve until cancelled."""
        door: tuple[socket.socket, asyncio.Task[None]] | None = None
        while True:
            self._current.look()
            if self._current.refuses_all:
                self._shut(door)
                door = None
            elif door is None:
                listening = socket.create_server(self._listen, backlog=128)
                door = listening, asyncio.create_task(self._accept(listening))
            self._current.confirm()
            await asyncio.sleep(LOOK_SECONDS)

    async def _accept(self, listening: socket.socket) -> None:
        listening.setblocking(False)
        loop = asyncio.get_running_loop()
        while True:
            client, _ = await loop.sock_accept(listening)
            wire = Wire(client)
            task = asyncio.create_task(self._converse(wire))
            self._connections[task] = wire
            task.add_done_callback(self._forget)

    def _forget(self, task: asyncio.Task[None]) -> None:
        self._connections.pop(task, None)

    def _shut(self, door: tuple[socket.socket, asyncio.Task[None]] | None) -> None:
        if door is not None:
            listening, accepting = door
            accepting.cancel()
            listening.close()
        for task, wire in list(self._connections.items()):
            wire.break_off()
            task.cancel()

    async def _converse(self, client: Wire) -> None:
        server: Wire | None = None
        try:
            while head := await client.head():
                rule = self._current.meet(head)
                if rule is not None and rule.mode in ("refuse", "hang", "500", "throttle"):
                    if not await self._fail(rule, head, client):
                        return
                    continue
                if server is not None and not server.silent():
                    server.close()
                    server = None
                server = server or await self._dial()
                if not await Exchange(client=client, server=server, rule=rule).run(head):
                    return
        except WireError:
            client.break_off()
        finally:
            client.close()
            if server is not None:
                server.close()

    async def _dial(self) -> Wire:
        connection = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        connection.setblocking(False)
        try:
            await asyncio.get_running_loop().sock_connect(connection, self._upstream)
        except OSError as error:
            connection.close()
            raise WireError(f"the server is down: {error}") from error
        return Wire(connection)

    async def _fail(self, rule: Rule, head: Head, client: Wire) -> bool:
        """Let a request fail without the server; returns whether the connection can go on."""
        if rule.mode == "hang":
            await self._current.changed.wait()
        if rule.mode in ("refuse", "hang"):
            raise WireError(rule.mode)
        if not _waits(head):
            async for _ in client.body(request_body(head)):
                pass
        await client.send(refusal(rule.mode, head, last=_waits(head)))
        return not _waits(head) and not head.closes


class Exchange:
    """One request and its answer, passed on, perhaps slowly, perhaps only in part."""

    def __init__(self, *, client: Wire, server: Wire, rule: Rule | None) -> None:
        self._client, self._server = client, server
        mode = rule.mode if rule else ""
        self._amount = rule.amount if rule else None
        self._cuts, self._slow = mode == "cut", mode == "slow"

    async def run(self, head: Head) -> bool:
        """Pass it on; returns whether both connections can carry another."""
        length = request_body(head)
        await self._server.send(head.raw)
        upload = asyncio.create_task(self._pass(self._client, self._server, length, cut=self._cuts and length != 0))
        download = asyncio.create_task(self._answer(head, cut=self._cuts and length == 0))
        try:
            await asyncio.wait((upload, download), return_when=asyncio.FIRST_COMPLETED)
            if not download.done():
                broken = upload.exception()
                if broken is not None and self._cuts:
                    raise broken
                # A server may refuse and close before it has taken all of the body: its answer is still to come.
                await asyncio.wait((download,), timeout=ANSWER_SECONDS if broken else None)
                if broken is not None and not download.done():
                    raise broken
            elif not upload.done() and not _waits(head):
                # A client that is still sending when the connection ends may never see the answer.
                await asyncio.wait((upload,), timeout=ANSWER_SECONDS)
            complete = upload.done() and upload.exception() is None
            return download.result() and complete and not head.closes
        except WireError:
            self._server.break_off()
            raise
        finally:
            upload.cancel()
            download.cancel()
            await asyncio.gather(upload, download, return_exceptions=True)

    async def _answer(self, request: Head, *, cut: bool) -> bool:
        """Pass the answer on, with all that is announced before it (100 Continue)."""
        while True:
            head = await self._server.head()
            if head is None:
                raise WireError("the server ended the connection instead of an answer")
            length = answer_body(head, method=request.method)
            if cut and length == 0 and head.status >= 200:
                raise WireError("cut before the answer")
            await self._client.send(head.raw)
            if head.status >= 200:
                await self._pass(self._server, self._client, length, cut=cut)
                return not head.closes and length is not Framing.UNTIL_CLOSE

    async def _pass(self, source: Wire, target: Wire, length: Length, *, cut: bool) -> None:
        left = self._amount or (length // 2 if isinstance(length, int) else 1)
        async for piece in source.body(length):
            part = piece[:left] if cut else piece
            await (self._trickle(target, part) if self._slow else target.send(part))
            left -= len(part)
            if cut and left <= 0:
                break
        if cut:
            await target.delivered(timeout=ANSWER_SECONDS)
            raise WireError("cut")

    async def _trickle(self, target: Wire, piece: memoryview) -> None:
        rate = self._amount or 1
        step = max(1, rate // SLOW_STEPS)
        for start in range(0, len(piece), step):
            part = piece[start : start + step]
            await target.send(part)
            await asyncio.sleep(len(part) / rate)


def refusal(mode: str, head: Head, *, last: bool) -> bytes:
    """Build the answer of a server in trouble, as AWS or, to its clients, Azure words it."""
    azure = "x-ms-version" in head.headers
    status, reason = (500, "Internal Server Error") if mode == "500" else (503, "Service Unavailable")
    if mode == "500":
        code, message = "InternalError", "We encountered an internal error. Please try again."
    elif azure:
        code, message = "ServerBusy", "The server is busy."
    else:
        code, message = "SlowDown", "Please reduce your request rate."
    error = f"<Error><Code>{code}</Code><Message>{message}</Message></Error>"
    body = f'<?xml version="1.0" encoding="UTF-8"?>\n{error}'.encode()
    lines = [f"HTTP/1.1 {status} {reason}", "Content-Type: application/xml", f"Content-Length: {len(body)}"]
    lines += [f"x-ms-error-code: {code}"] if azure else ["x-amz-request-id: BOXFAULT"]
    lines += ["Connection: close"] if last else []
    answer = ("\r\n".join(lines) + "\r\n\r\n").encode()
    return answer if head.method == "HEAD" else answer + body


def _waits(head: Head) -> bool:
    """Whether a client sends its body only when it is asked to."""
    return "100-continue" in head.headers.get("expect", "").lower()


def _address(text: str) -> Address:
    host, _, port = text.rpartition(":")
    return host, int(port)


async def _serve(arguments: argparse.Namespace) -> None:
    current = Current(FaultFile(arguments.rules))
    proxy = Proxy(listen=arguments.listen, upstream=arguments.upstream, current=current)
    running = asyncio.create_task(proxy.run())
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, running.cancel)
    with contextlib.suppress(asyncio.CancelledError):
        await running


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python3 -m box.storage.faulty_proxy", description=__doc__)
    parser.add_argument("--listen", type=_address, required=True)
    parser.add_argument("--upstream", type=_address, required=True)
    parser.add_argument("--rules", type=Path, required=True)
    asyncio.run(_serve(parser.parse_args(sys.argv[1:] if argv is None else argv)))


if __name__ == "__main__":
    main()
