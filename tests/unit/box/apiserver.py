"""A Kubernetes API in miniature for the tests: objects in memory, real HTTP, real watches."""

from __future__ import annotations

import json
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

Object = dict[str, Any]

RESOURCES = {
    "v1": [
        {"name": "pods", "kind": "Pod", "namespaced": True},
        {"name": "pods/status", "kind": "Pod", "namespaced": True},
        {"name": "nodes", "kind": "Node", "namespaced": False},
        {"name": "persistentvolumes", "kind": "PersistentVolume", "namespaced": False},
    ],
    "apps/v1": [{"name": "deployments", "kind": "Deployment", "namespaced": True}],
}


class World:
    """The objects by path, and everything that happened to them."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.objects: dict[str, Object] = {}
        self.events: list[tuple[int, str, str, Object]] = []
        self.requests: list[tuple[str, str, Any]] = []
        self.version = 100
        self.oldest = 0  # watches from before this version are told that it is gone
        self.cut_watches = 0  # so many watches end after their first event

    def put(self, path: str, obj: Object) -> Object:
        """Store an object as another client would."""
        with self.changed:
            known = self.objects.get(path)
            self.version += 1
            metadata = {"uid": str(uuid.uuid4())} | obj.get("metadata", {}) | {"resourceVersion": str(self.version)}
            self.objects[path] = kept = obj | {"metadata": metadata}
            self.events.append((self.version, "MODIFIED" if known else "ADDED", path, kept))
            self.changed.notify_all()
            return kept

    def remove(self, path: str) -> None:
        with self.changed:
            gone = self.objects.pop(path)
            self.version += 1
            last = gone | {"metadata": gone["metadata"] | {"resourceVersion": str(self.version)}}
            self.events.append((self.version, "DELETED", path, last))
            self.changed.notify_all()

    def below(self, path: str) -> list[Object]:
        return [obj for known, obj in self.objects.items() if belongs(known, path)]


def belongs(path: str, collection: str) -> bool:
    """Whether an object lies in a collection, of one namespace or of all."""
    root, _, plural = collection.rpartition("/")
    return path.startswith(f"{root}/") and path.split("/")[-2] == plural


def json_patch(target: Object, operations: list[Object]) -> Object | None:
    """Apply the operations that are used here; None if a test among them fails."""
    patched: Object = json.loads(json.dumps(target))
    for operation in operations:
        *parents, last = (part.replace("~1", "/") for part in operation["path"].split("/")[1:])
        place = patched
        for parent in parents:
            place = place[parent]
        if operation["op"] == "test" and place.get(last) != operation["value"]:
            return None
        if operation["op"] == "remove":
            del place[last]
        if operation["op"] == "replace":
            place[last] = operation["value"]
    return patched


def merge(target: Any, change: Any) -> Any:
    if not isinstance(change, dict):
        return change
    merged = dict(target) if isinstance(target, dict) else {}
    for name, value in change.items():
        if value is None:
            merged.pop(name, None)
        else:
            merged[name] = merge(merged.get(name), value)
    return merged


def outdated(known: Object, change: Any) -> bool:
    meant = change.get("metadata", {}).get("resourceVersion") if isinstance(change, dict) else None
    return bool(meant and meant != known["metadata"]["resourceVersion"])


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    world: World

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is given
        pass

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(url.query).items()}
        if "watch" in query:
            self._watch(url.path, query)
            return
        self.world.requests.append(("GET", self.path, None))
        root = url.path.removeprefix("/apis/").removeprefix("/api/")
        with self.world.changed:
            if root in RESOURCES:
                self._answer(200, {"kind": "APIResourceList", "resources": RESOURCES[root]})
            elif url.path in self.world.objects:
                self._answer(200, self.world.objects[url.path])
            elif url.path.endswith("s") and not url.path.endswith("/nowheres"):
                items = [
                    {k: v for k, v in obj.items() if k not in ("kind", "apiVersion")}
                    for obj in self.world.below(url.path)
                ]
                version = str(self.world.version)
                listed = {"kind": "ThingList", "apiVersion": "v1", "metadata": {"resourceVersion": version}}
                self._answer(200, listed | {"items": items})
            else:
                self._refuse(404, "NotFound", f"{url.path} not found")

    def do_POST(self) -> None:
        body = self._body()
        path = f"{self.path}/{body['metadata']['name']}"
        if path in self.world.objects:
            self._refuse(409, "AlreadyExists", f"{path} already exists")
        else:
            self._answer(201, self.world.put(path, body))

    def do_PATCH(self) -> None:
        body = self._body()
        url = urlsplit(self.path)
        path = url.path.removesuffix("/status")
        known = self.world.objects.get(path)
        if "apply" in self.headers["Content-Type"]:
            self._answer(200, self.world.put(path, merge(known, body)))
        elif known is None:
            self._refuse(404, "NotFound", f"{path} not found")
        elif outdated(known, body):
            self._refuse(409, "Conflict", "the object has been modified")
        else:
            patched = json_patch(known, body) if isinstance(body, list) else merge(known, body)
            if patched is None:
                self._refuse(422, "Invalid", "the test failed")
            else:
                self._answer(200, self.world.put(path, patched))

    def do_DELETE(self) -> None:
        body = self._body()
        known = self.world.objects.get(self.path)
        uid = body.get("preconditions", {}).get("uid")
        if known is None:
            self._refuse(404, "NotFound", f"{self.path} not found")
        elif uid and known["metadata"]["uid"] != uid:
            self._refuse(409, "Conflict", "the UID in the precondition does not match")
        else:
            self.world.remove(self.path)
            self._answer(200, {"kind": "Status", "status": "Success"})

    def _body(self) -> Any:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.world.requests.append((self.command, self.path, body))
        return body

    def _watch(self, path: str, query: dict[str, str]) -> None:
        self.world.requests.append(("WATCH", self.path, None))
        since = int(query["resourceVersion"])
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        if since < self.world.oldest:
            gone = {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old resource version"}
            self._event("ERROR", gone)
            self._chunk(b"")
            return
        self._stream(path, since, float(query["timeoutSeconds"]))

    def _stream(self, path: str, since: int, seconds: float) -> None:
        self._event("BOOKMARK", {"metadata": {"resourceVersion": str(since)}})
        while True:
            with self.world.changed:
                fresh = [event for event in self.world.events if event[0] > since]
                if not fresh and not self.world.changed.wait(min(seconds, 5.0)):
                    break
            for version, change, place, obj in fresh:
                since = version
                if belongs(place, path):
                    self._event(change, obj)
                if self.world.cut_watches:
                    self.world.cut_watches -= 1
                    self.close_connection = True
                    self.connection.close()
                    return
        self._chunk(b"")

    def _event(self, change: str, obj: Object) -> None:
        self._chunk(json.dumps({"type": change, "object": obj}).encode() + b"\n")

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()

    def _refuse(self, status: int, reason: str, message: str) -> None:
        self._answer(status, {"kind": "Status", "code": status, "reason": reason, "message": message})

    def _answer(self, status: int, body: Object) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Clients that go away are part of the tests."""


@contextmanager
def serving(world: World) -> Iterator[str]:
    """Serve a world on loopback; gives its address."""
    handler = type("Bound", (Handler,), {"world": world})
    server = Server(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
