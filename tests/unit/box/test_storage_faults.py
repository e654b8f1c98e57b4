"""The proxy that fails on demand: the real program, between a real client and a small server."""

from __future__ import annotations

import http.client
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from xml.etree import ElementTree

import pytest

from box.layout import REPOSITORY
from box.storage.rules import FaultFile, Rule

MiB = 1 << 20


class Store(BaseHTTPRequestHandler):
    """Keeps what is put and gives it back; notes what it saw."""

    protocol_version = "HTTP/1.1"
    kept: dict[str, bytes]
    seen: list[str]
    hosts: set[str]

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is given
        pass

    def do_PUT(self) -> None:
        self.seen.append(self.requestline)
        self.hosts.add(self.headers["Host"])
        if "refused" in self.path:
            self.close_connection = True
            self._answer(403, b"no")
            return
        if self.headers.get("Transfer-Encoding") == "chunked":
            body = b""
            while size := int(self.rfile.readline(), 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if len(body) < int(self.headers["Content-Length"]):
                return
        self.kept[self.path] = body
        self._answer(200, b"")

    def do_GET(self) -> None:
        self.seen.append(self.requestline)
        if "until-close" in self.path:
            self.send_response(200)
            self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(b"x" * MiB)
            return
        if "streamed" in self.path:
            self.send_response(200)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            self.wfile.write(b"5\r\nhello\r\n5\r\nworld\r\n0\r\n\r\n")
            return
        self._answer(200 if self.path in self.kept else 404, self.kept.get(self.path, b"nothing"))

    def do_HEAD(self) -> None:
        self._answer(200, self.kept.get(self.path, b""))

    def do_DELETE(self) -> None:
        self.send_response(204)
        self.end_headers()

    def _answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Cut connections are what this is about."""


class Storage:
    """The server, the proxy before it, and a client."""

    def __init__(self, folder: Path) -> None:
        self.handler: type[Store] = type("Bound", (Store,), {"kept": {}, "seen": [], "hosts": set()})
        self._server = Server(("127.0.0.1", 0), self.handler)
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.fault = FaultFile(folder / "fault.json")
        self.proxy = subprocess.Popen(
            [
                *(sys.executable, "-m", "box.storage.faulty_proxy", "--listen", f"127.0.0.1:{self.port}"),
                *("--upstream", f"127.0.0.1:{self._server.server_address[1]}", "--rules", str(self.fault.path)),
            ],
            cwd=REPOSITORY,
            stdout=subprocess.DEVNULL,
        )
        self.fault.set(Rule(), timeout=10)

    @property
    def seen(self) -> list[str]:
        return list(self.handler.seen)

    @property
    def kept(self) -> dict[str, bytes]:
        return dict(self.handler.kept)

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)

    def ask(self, method: str, path: str, body: bytes | None = None, **headers: str) -> tuple[int, bytes]:
        connection = self.connect()
        try:
            connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()

    def close(self) -> None:
        self.proxy.terminate()
        self.proxy.wait(10)
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Storage]:
    storage = Storage(tmp_path_factory.mktemp("storage"))
    yield storage
    storage.close()


@pytest.fixture
def storage(running: Storage) -> Storage:
    running.fault.set(Rule(), timeout=5)
    running.handler.kept.clear()
    running.handler.seen.clear()
    return running


def exchange(connection: http.client.HTTPConnection, path: str) -> int:
    connection.request("GET", path)
    return connection.getresponse().status


def drain(connection: socket.socket, into: bytearray) -> None:
    while piece := connection.recv(65536):
        into += piece


def test_without_a_rule_everything_passes_as_it_is(storage: Storage) -> None:
    body = bytes(range(256)) * 4096

    assert storage.ask("PUT", "/b/k", body, Host="s3.box-storage.svc:9000") == (200, b"")
    assert storage.ask("GET", "/b/k") == (200, body)
    assert storage.ask("HEAD", "/b/k") == (200, b"")
    assert storage.ask("DELETE", "/b/k") == (204, b"")
    assert storage.ask("GET", "/b/none") == (404, b"nothing")
    assert storage.handler.hosts == {"s3.box-storage.svc:9000"}


def test_bodies_whose_length_is_not_told_pass_too(storage: Storage) -> None:
    connection = storage.connect()
    connection.request("PUT", "/b/k", iter([b"one", b"two"]), encode_chunked=True)
    assert connection.getresponse().read() == b""
    connection.request("GET", "/b/streamed")
    assert connection.getresponse().read() == b"helloworld"
    connection.request("GET", "/b/until-close")
    assert connection.getresponse().read() == b"x" * MiB
    connection.close()

    assert storage.kept["/b/k"] == b"onetwo"


def test_a_connection_carries_many_requests(storage: Storage) -> None:
    connection = storage.connect()
    for number in range(20):
        connection.request("PUT", f"/b/{number}", b"x" * number)
        assert connection.getresponse().read() == b""
    local = connection.sock.getsockname() if connection.sock else None
    connection.close()

    assert local is not None, "it was never closed by the proxy"
    assert len(storage.kept) == 20


def test_a_client_that_asks_before_it_sends_is_told_to_go_on(storage: Storage) -> None:
    with socket.create_connection(("127.0.0.1", storage.port), 5) as connection:
        head = b"PUT /b/k HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n"
        connection.sendall(head)
        assert connection.recv(1000).startswith(b"HTTP/1.1 100")
        connection.sendall(b"hello")
        assert connection.recv(1000).startswith(b"HTTP/1.1 200")

    assert storage.kept["/b/k"] == b"hello"


def test_an_answer_that_comes_before_the_whole_upload_reaches_the_client(storage: Storage) -> None:
    status, body = storage.ask("PUT", "/b/refused", b"x" * MiB)

    assert (status, body) == (403, b"no")


def test_refuse_closes_the_door_and_every_open_connection(storage: Storage) -> None:
    connection = storage.connect()
    connection.request("GET", "/b/none")
    connection.getresponse().read()

    storage.fault.set(Rule("refuse"), timeout=5)

    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", storage.port), 5)
    with pytest.raises(ConnectionError):
        exchange(connection, "/b/none")
    connection.close()
    storage.fault.set(Rule(), timeout=5)
    assert storage.ask("GET", "/b/none")[0] == 404


def test_refuse_for_some_requests_resets_those_only(storage: Storage) -> None:
    storage.fault.set(Rule("refuse", method="PUT"), timeout=5)

    with pytest.raises(ConnectionError):
        storage.ask("PUT", "/b/k", b"x")
    assert storage.ask("GET", "/b/k")[0] == 404
    assert storage.seen == ["GET /b/k HTTP/1.1"]


def test_hang_never_answers_and_lets_go_when_healed(storage: Storage) -> None:
    storage.fault.set(Rule("hang"), timeout=5)
    with socket.create_connection(("127.0.0.1", storage.port), 0.5) as connection:
        connection.sendall(b"GET /b/k HTTP/1.1\r\nHost: h\r\n\r\n")
        with pytest.raises(TimeoutError):
            connection.recv(1)
        storage.fault.set(Rule(), timeout=5)
        with pytest.raises(ConnectionResetError):
            connection.recv(1)

    assert storage.seen == []


@pytest.mark.parametrize(
    ("mode", "status", "code", "azure_code"),
    [("500", 500, "InternalError", "InternalError"), ("throttle", 503, "SlowDown", "ServerBusy")],
)
def test_a_server_in_trouble_says_so_as_aws_and_azure_do(
    storage: Storage, mode: str, status: int, code: str, azure_code: str
) -> None:
    storage.fault.set(Rule(mode), timeout=5)

    answered, body = storage.ask("PUT", "/b/k", b"x" * MiB)
    assert (answered, ElementTree.fromstring(body).findtext("Code")) == (status, code)
    answered, body = storage.ask("GET", "/b/k", x_ms_version="2024-08-04")
    assert (answered, ElementTree.fromstring(body).findtext("Code")) == (status, azure_code)
    assert storage.ask("HEAD", "/b/k") == (status, b"")
    assert storage.seen == [], "the server itself never heard of them"


def test_a_refused_upload_leaves_the_connection_usable(storage: Storage) -> None:
    storage.fault.set(Rule("500", count=1), timeout=5)
    connection = storage.connect()
    for expected in (500, 200):
        connection.request("PUT", "/b/k", b"x" * MiB)
        response = connection.getresponse()
        response.read()
        assert response.status == expected
    connection.close()


def test_a_client_that_asks_before_it_sends_is_refused_at_once(storage: Storage) -> None:
    storage.fault.set(Rule("500"), timeout=5)
    with socket.create_connection(("127.0.0.1", storage.port), 5) as connection:
        connection.sendall(b"PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n")
        assert connection.recv(1000).startswith(b"HTTP/1.1 500")


def test_a_rule_meets_requests_on_connections_that_are_older_than_it(storage: Storage) -> None:
    connection = storage.connect()
    connection.request("GET", "/b/k")
    assert connection.getresponse().read() == b"nothing"

    storage.fault.set(Rule("500"), timeout=5)
    connection.request("GET", "/b/k")
    assert connection.getresponse().status == 500
    connection.close()


def test_a_rule_with_a_count_is_spent(storage: Storage) -> None:
    storage.fault.set(Rule("500", count=2, match="/b/"), timeout=5)

    answered = [storage.ask("GET", path)[0] for path in ("/a/k", "/b/k", "/b/k", "/b/k")]

    assert answered == [404, 500, 500, 404]
    assert storage.fault.hits() == 2


def test_cut_breaks_an_upload_in_the_middle(storage: Storage) -> None:
    storage.fault.set(Rule("cut"), timeout=5)

    with pytest.raises(ConnectionError):
        storage.ask("PUT", "/b/k", b"x" * MiB)
    time.sleep(0.1)

    assert storage.seen == ["PUT /b/k HTTP/1.1"], "it did begin"
    assert storage.kept == {}


def test_cut_breaks_a_download_after_the_number_of_bytes_it_is_given(storage: Storage) -> None:
    storage.ask("PUT", "/b/k", b"x" * MiB)
    storage.fault.set(Rule("cut", amount=300_000), timeout=5)
    received = bytearray()
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8192)
        connection.settimeout(10)
        connection.connect(("127.0.0.1", storage.port))
        connection.sendall(b"GET /b/k HTTP/1.1\r\nHost: h\r\n\r\n")
        time.sleep(0.2)  # a slow reader gets them too
        with pytest.raises(ConnectionResetError):
            drain(connection, received)
    head, _, body = bytes(received).partition(b"\r\n\r\n")

    assert f"Content-Length: {MiB}".encode() in head
    assert len(body) == 300_000


def test_cut_breaks_what_has_no_body_before_the_answer(storage: Storage) -> None:
    storage.fault.set(Rule("cut"), timeout=5)

    with pytest.raises(ConnectionError):
        storage.ask("DELETE", "/b/k")


def test_slow_lets_so_many_bytes_pass_in_a_second(storage: Storage) -> None:
    storage.fault.set(Rule("slow", amount=MiB), timeout=5)
    begin = time.monotonic()
    storage.ask("PUT", "/b/k", b"x" * (MiB // 2))

    assert 0.4 < time.monotonic() - begin < 20


def test_large_bodies_pass_fast_and_are_not_kept(storage: Storage) -> None:
    size = 256 * MiB
    storage.handler.kept["/b/large"] = bytes(size)
    begin = time.monotonic()
    connection = storage.connect()
    connection.request("GET", "/b/large")
    response = connection.getresponse()
    received = 0
    while piece := response.read(MiB):
        received += len(piece)
    connection.close()
    rate = size / MiB / (time.monotonic() - begin)
    peak = next(line for line in Path(f"/proc/{storage.proxy.pid}/status").read_text().splitlines() if "VmHWM" in line)

    assert received == size
    assert rate > 5, f"{rate:.0f} MiB/s"
    assert int(peak.split()[1]) < 60_000, "kB"
