"""Where the messages of HTTP end."""

from __future__ import annotations

import asyncio
import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from box.storage.http_wire import ChunkCount, Framing, Wire, WireError, answer_body, parse_head, request_body


def test_a_head_is_kept_as_it_came_and_its_names_are_found_in_any_case() -> None:
    raw = b"PUT /b/k?x=1 HTTP/1.1\r\nHost: s3.box-storage.svc:9000\r\ncontent-LENGTH: 12\r\n\r\n"
    head = parse_head(raw)

    assert head.raw == raw
    assert (head.method, head.target, head.length) == ("PUT", "/b/k?x=1", 12)
    assert head.headers["host"] == "s3.box-storage.svc:9000"


@pytest.mark.parametrize(
    ("lines", "closes"),
    [
        ("GET / HTTP/1.1", False),
        ("GET / HTTP/1.1\r\nConnection: Close", True),
        ("GET / HTTP/1.0", True),
        ("GET / HTTP/1.0\r\nConnection: keep-alive", False),
        ("HTTP/1.0 200 OK", True),
        ("HTTP/1.1 200", False),
    ],
)
def test_whether_a_connection_ends_after_a_message(lines: str, closes: bool) -> None:
    assert parse_head(f"{lines}\r\n\r\n".encode()).closes is closes


@pytest.mark.parametrize("raw", [b"\r\n\r\n", b"nonsense\r\n\r\n", b"HTTP/1.1 fine OK\r\n\r\n"])
def test_what_is_not_http_is_refused(raw: bytes) -> None:
    with pytest.raises(WireError, match="not HTTP"):
        parse_head(raw)


def test_how_long_a_body_is() -> None:
    put = parse_head(b"PUT / HTTP/1.1\r\nContent-Length: 5\r\n\r\n")
    streamed = parse_head(b"PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n")
    told = parse_head(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n")
    untold = parse_head(b"HTTP/1.1 200 OK\r\n\r\n")
    empty = parse_head(b"HTTP/1.1 204 No Content\r\n\r\n")

    assert request_body(put) == 5
    assert request_body(streamed) is Framing.CHUNKED
    assert request_body(parse_head(b"GET / HTTP/1.1\r\n\r\n")) == 0
    assert answer_body(told, method="GET") == 5
    assert answer_body(told, method="HEAD") == 0
    assert answer_body(untold, method="GET") is Framing.UNTIL_CLOSE
    assert answer_body(empty, method="DELETE") == 0


BODY = b"5;name=value\r\nhello\r\n" + b"1a\r\n" + b"z" * 26 + b"\r\n" + b"0\r\nTrailer: x\r\n\r\n"


@given(st.lists(st.integers(min_value=1, max_value=9)), st.binary(max_size=8))
def test_the_end_of_a_chunked_body_is_found_however_it_is_cut_up(sizes: list[int], after: bytes) -> None:
    count = ChunkCount()
    stream, used = BODY + after, 0
    for size in [*sizes, len(stream)]:
        if count.ended:
            break
        used += count.take(memoryview(stream[used : used + size]))

    assert count.ended
    assert used == len(BODY)


@pytest.mark.parametrize("body", [b"hello\r\n", b"\r\n", b"1" * 5000])
def test_what_is_no_chunk_is_refused(body: bytes) -> None:
    with pytest.raises(WireError, match="chunk"):
        ChunkCount().take(memoryview(body))


def tcp_pair() -> tuple[socket.socket, socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        far = socket.create_connection(server.getsockname())
        return server.accept()[0], far


def test_a_wire_reads_message_after_message_and_then_its_end() -> None:
    async def read() -> list[bytes]:
        near, far = tcp_pair()
        with near, far:
            far.sendall(b"PUT /1 HTTP/1.1\r\nContent-Length: 3\r\n\r\nabcPUT /2 HTTP/1.1\r\nTransfer-Enc")
            far.sendall(b"oding: chunked\r\n\r\n2\r\nde\r\n0\r\n\r\nGET /3 HTTP/1.1\r\n\r\n")
            far.shutdown(socket.SHUT_WR)
            wire, seen = Wire(near), []
            while head := await wire.head():
                seen.append(head.target.encode())
                seen += [bytes(piece) async for piece in wire.body(request_body(head))]
            return seen

    assert asyncio.run(read()) == [b"/1", b"abc", b"/2", b"2\r\nde\r\n0\r\n\r\n", b"/3"]


@pytest.mark.parametrize("sent", [b"GET / HT", b"PUT / HTTP/1.1\r\nContent-Length: 9\r\n\r\nabc"])
def test_a_message_that_ends_too_soon_is_an_error(sent: bytes) -> None:
    async def read() -> None:
        near, far = tcp_pair()
        with near, far:
            far.sendall(sent)
            far.shutdown(socket.SHUT_WR)
            wire = Wire(near)
            head = await wire.head()
            assert head
            async for _ in wire.body(request_body(head)):
                pass

    with pytest.raises(WireError, match="in the middle"):
        asyncio.run(read())
