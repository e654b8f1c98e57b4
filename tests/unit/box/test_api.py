"""The Kubernetes client of the box on the wire: each test scripts one conversation, byte by byte.

What the client does with a Kubernetes is tested on a real one, in `tests/box/test_api_client.py`.
"""

from __future__ import annotations

import base64
import json
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from box.kube.api import Api, ApiError, Change
from box.layout import BoxError

PODS = "/api/v1/pods"


def answer(body: str, *, status: str = "200 OK") -> bytes:
    return f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()


def listed(version: int, *names: str) -> bytes:
    items = [{"metadata": {"name": name}} for name in names]
    return answer(json.dumps({"kind": "PodList", "metadata": {"resourceVersion": str(version)}, "items": items}))


def stream(*lines: str, whole: bool = True) -> bytes:
    """Lines in chunks; without the last chunk if the connection is to be cut."""
    chunks = "".join(f"{len(line):x}\r\n{line}\r\n" for line in lines)
    last = "0\r\n\r\n" if whole else ""
    return f"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{chunks}{last}".encode()


def added(version: int, name: str, *, kind: str = "ADDED") -> str:
    metadata = {"name": name, "resourceVersion": str(version)}
    return json.dumps({"type": kind, "object": {"metadata": metadata}}) + "\n"


class Script:
    """Answers one connection after the other, each with its own bytes, and closes it without having said so."""

    def __init__(self, *answers: bytes, context: ssl.SSLContext | None = None) -> None:
        self._answers, self._context = answers, context
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._socket.settimeout(5)
        self.port = self._socket.getsockname()[1]
        self.asked: list[str] = []

    def play(self) -> None:
        for data in self._answers:
            connection, _ = self._socket.accept()
            if self._context:
                connection = self._context.wrap_socket(connection, server_side=True)
            with connection, connection.makefile("rb") as reader:
                self.asked.append(reader.readline().decode())
                while reader.readline().strip():
                    pass
                connection.sendall(data)

    def close(self) -> None:
        self._socket.close()


@contextmanager
def played(script: Script) -> Iterator[Api]:
    thread = threading.Thread(target=script.play, daemon=True)
    thread.start()
    with closing(script), Api(server=f"http://127.0.0.1:{script.port}", timeout=5.0) as api:
        yield api
        thread.join(timeout=5)
        assert not thread.is_alive(), f"only this was asked: {script.asked}"


def names(change: Change) -> tuple[str, list[str]]:
    return change.kind, [obj["metadata"]["name"] for obj in change.objects]


def test_nobody_there_is_an_error_of_its_own() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]

    with pytest.raises(ApiError, match="could not be asked") as failed:
        Api(server=f"http://127.0.0.1:{port}").get(PODS)

    assert failed.value.unreachable


def test_a_server_that_hangs_is_given_up_at_the_deadline() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        begin = time.monotonic()
        with pytest.raises(ApiError, match="no answer within"):
            Api(server=f"http://127.0.0.1:{silent.getsockname()[1]}").get(PODS, timeout=0.3)

    assert time.monotonic() - begin < 2


def test_a_connection_that_the_server_closed_is_opened_again() -> None:
    with played(Script(listed(1), listed(2), listed(3))) as api:
        assert [api.list(PODS) for _ in range(3)] == [[], [], []]


def test_an_answer_that_is_cut_is_an_error() -> None:
    with played(Script(listed(1, "one")[:-5])) as api, pytest.raises(ApiError, match="could not be asked"):
        api.list(PODS)


def test_a_refusal_that_is_no_json_is_shown_as_it_came() -> None:
    with (
        played(Script(answer("apiserver is shutting down", status="503 Service Unavailable"))) as api,
        pytest.raises(ApiError, match="answered 503 to GET /api/v1/pods: apiserver is shutting down"),
    ):
        api.list(PODS)


def test_a_watch_that_is_cut_goes_on_where_it_was() -> None:
    script = Script(listed(1), stream(added(7, "one"), whole=False), stream(added(8, "two")))
    with played(script) as api:
        changes = api.watch(PODS, timeout=5)

        assert [names(next(changes)) for _ in range(3)] == [("RESET", []), ("ADDED", ["one"]), ("ADDED", ["two"])]

    assert "resourceVersion=1&" in script.asked[1]
    assert "resourceVersion=7&" in script.asked[2]


def test_a_watch_that_is_cut_in_the_middle_of_an_event_lists_again() -> None:
    half = added(7, "one")[:30]
    with played(Script(listed(1), stream(half, whole=False), listed(7, "one"))) as api:
        changes = api.watch(PODS, timeout=5)

        assert [names(next(changes)) for _ in range(2)] == [("RESET", []), ("RESET", ["one"])]


def test_a_watch_that_is_told_that_it_is_too_old_lists_again() -> None:
    gone = json.dumps({"type": "ERROR", "object": {"kind": "Status", "code": 410, "reason": "Expired"}}) + "\n"
    with played(Script(listed(1), stream(gone), listed(9, "one"))) as api:
        changes = api.watch(PODS, timeout=5)

        assert [names(next(changes)) for _ in range(2)] == [("RESET", []), ("RESET", ["one"])]


def test_a_bookmark_is_no_change_but_where_a_watch_goes_on() -> None:
    script = Script(listed(1), stream(added(5, "none", kind="BOOKMARK")), stream(added(6, "one")))
    with played(script) as api:
        changes = api.watch(PODS, timeout=5)

        assert [names(next(changes)) for _ in range(2)] == [("RESET", []), ("ADDED", ["one"])]

    assert "resourceVersion=5&" in script.asked[2]


def test_a_kubeconfig_that_is_missing_says_how_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(BoxError, match="box up"):
        Api.from_kubeconfig(tmp_path / "kubeconfig")


def test_a_kubeconfig_of_someone_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "kubeconfig"
    path.write_text("apiVersion: v1\nkind: Config\n")

    with pytest.raises(BoxError, match="not a kubeconfig that the box wrote"):
        Api.from_kubeconfig(path)


def test_client_and_server_prove_each_other_who_they_are(tmp_path: Path) -> None:
    key, certificate = tmp_path / "key", tmp_path / "crt"
    _make_certificate(key, certificate)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    context.load_verify_locations(certificate)
    context.verify_mode = ssl.CERT_REQUIRED
    script = Script(listed(1, "one"), context=context)
    encoded, secret = (base64.b64encode(file.read_bytes()).decode() for file in (certificate, key))
    user = {"client-certificate-data": encoded, "client-key-data": secret}
    cluster = {"server": f"https://127.0.0.1:{script.port}", "certificate-authority-data": encoded}
    path = tmp_path / "kubeconfig"
    path.write_text(json.dumps({"clusters": [{"cluster": cluster}], "users": [{"user": user}]}))

    with played(script), Api.from_kubeconfig(path) as api:
        assert [pod["metadata"]["name"] for pod in api.list(PODS)] == ["one"]


def _make_certificate(key: Path, certificate: Path) -> None:
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"),
            *("-days", "1", "-subj", "/CN=box", "-addext", "subjectAltName=IP:127.0.0.1"),
            *("-keyout", str(key), "-out", str(certificate)),
        ],
        check=True,
        capture_output=True,
    )
