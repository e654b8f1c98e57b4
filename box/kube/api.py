"""A Kubernetes API client as small as the box needs it: one file, the standard library, nothing generated.

The box has to talk to its API server before any Python package is installed, and `kubectl` takes half a second of
processor time for each call. Objects are plain dicts. Every call has a deadline. A watch never ends by itself: it
lists again after whatever went wrong, and says so with a `RESET` that carries everything there is.
"""

from __future__ import annotations

import base64
import http.client
import json
import os
import random
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from box.layout import BoxError

Object = dict[str, Any]
JsonPatch = list[Object]
Objects = list[Object]

CALL_SECONDS = 10.0
WATCH_SECONDS = 30  # a watch is begun anew that often, so a frozen API server is noticed soon
SHORTEST_WATCH = 0.1  # one that ends sooner is not begun again at once
FIELD_MANAGER = "box"

JSON = "application/json"
MERGE_PATCH = "application/merge-patch+json"
JSON_PATCH = "application/json-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"


class ApiError(BoxError):
    """The API server refused, or could not be reached (status 0)."""

    def __init__(self, *, status: int, reason: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason
        self.message = message

    @property
    def not_found(self) -> bool:
        return self.status == 404

    @property
    def exists(self) -> bool:
        return self.status == 409 and self.reason == "AlreadyExists"

    @property
    def conflict(self) -> bool:
        return self.status == 409 and self.reason == "Conflict"

    @property
    def unreachable(self) -> bool:
        return self.status == 0


@dataclass(frozen=True)
class Change:
    """What a watch saw: `RESET` with all objects, else `ADDED`, `MODIFIED` or `DELETED` with one."""

    kind: str
    objects: tuple[Object, ...]

    @property
    def object(self) -> Object:
        return self.objects[0]


@dataclass(frozen=True)
class Resource:
    """Where the objects of one kind live in the API."""

    plural: str
    namespaced: bool


def key(obj: Mapping[str, Any]) -> str:
    """`namespace/name`, or the bare name of an object without a namespace."""
    metadata = obj["metadata"]
    namespace = metadata.get("namespace")
    return f"{namespace}/{metadata['name']}" if namespace else str(metadata["name"])


class Api:
    """Blocking calls; safe to share between threads, as each call has a connection to itself and gives it back."""

    def __init__(self, *, server: str, context: ssl.SSLContext | None = None, timeout: float = CALL_SECONDS) -> None:
        url = urlsplit(server)
        self._host = url.hostname or "127.0.0.1"
        self._port = url.port or (443 if url.scheme == "https" else 80)
        self._context = context if url.scheme == "https" else None
        self._tls = url.scheme == "https"
        self._timeout = timeout
        self._lock = threading.Lock()
        self._idle: list[http.client.HTTPConnection] = []
        self._resources: dict[tuple[str, str], Resource] = {}

    @classmethod
    def from_kubeconfig(cls, path: Path, *, timeout: float = CALL_SECONDS) -> Api:
        """Read a kubeconfig that the box wrote: JSON, one cluster, one user, certificates inside."""
        try:
            config = json.loads(path.read_text())
            cluster = config["clusters"][0]["cluster"]
            user = config["users"][0]["user"]
            context = _client_context(
                authority=base64.b64decode(cluster["certificate-authority-data"]),
                certificate=base64.b64decode(user["client-certificate-data"]),
                private_key=base64.b64decode(user["client-key-data"]),
            )
            return cls(server=cluster["server"], context=context, timeout=timeout)
        except FileNotFoundError as error:
            raise BoxError(f"{path} is not there, so the box was never started; start it with: box up") from error
        except (ValueError, KeyError, IndexError, TypeError, ssl.SSLError) as error:
            raise BoxError(
                f"{path} is not a kubeconfig that the box wrote ({error!r}); remake it with: box down, box up"
            ) from error

    def ready(self) -> bool:
        """Whether the server answers and says that it is ready."""
        try:
            status, _ = self._exchange("GET", "/readyz", data=None, headers={}, timeout=self._timeout)
        except ApiError:
            return False
        return status == 200

    def __enter__(self) -> Api:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections that are kept for further calls."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def get(self, path: str, *, timeout: float | None = None) -> Object:
        return self.request("GET", path, timeout=timeout)

    def list(self, path: str, *, labels: str = "", fields: str = "", timeout: float | None = None) -> Objects:
        """The objects below a path; their `kind` and `apiVersion` are filled in, which the server leaves out."""
        return _items(self.request("GET", path, query=_selectors(labels, fields), timeout=timeout))

    def create(self, path: str, obj: Mapping[str, Any], *, timeout: float | None = None) -> Object:
        return self.request("POST", path, body=obj, timeout=timeout)

    def apply(self, obj: Mapping[str, Any], *, subresource: str = "", timeout: float | None = None) -> Object:
        """Server-side apply; what others own of these fields becomes the box's."""
        return self.request(
            "PATCH",
            self.path_of(obj) + (f"/{subresource}" if subresource else ""),
            query={"fieldManager": FIELD_MANAGER, "force": "true"},
            body=obj,
            content_type=APPLY_PATCH,
            timeout=timeout,
        )

    def patch(self, path: str, change: Mapping[str, Any] | JsonPatch, *, timeout: float | None = None) -> Object:
        """A merge patch if given a mapping, a JSON patch if given a list; subresources by their path."""
        content_type = JSON_PATCH if isinstance(change, list) else MERGE_PATCH
        return self.request("PATCH", path, body=change, content_type=content_type, timeout=timeout)

    def delete(self, path: str, *, uid: str = "", timeout: float | None = None) -> bool:
        """Ask for deletion; False if it was gone already (or, with `uid`, if another one has its name now)."""
        options: Object = {"kind": "DeleteOptions", "apiVersion": "v1"}
        if uid:
            options["preconditions"] = {"uid": uid}
        try:
            self.request("DELETE", path, body=options, timeout=timeout)
        except ApiError as error:
            if error.not_found or (uid and error.conflict):
                return False
            raise
        return True

    def path_of(self, obj: Mapping[str, Any]) -> str:
        """Where an object lives, by what the API server itself says of its kind."""
        version, kind = str(obj["apiVersion"]), str(obj["kind"])
        resource = self._resource(version, kind)
        root = f"/apis/{version}" if "/" in version else f"/api/{version}"
        metadata = obj["metadata"]
        scope = f"/namespaces/{quote(metadata.get('namespace', 'default'))}" if resource.namespaced else ""
        return f"{root}{scope}/{resource.plural}/{quote(metadata['name'])}"

    def watch(self, path: str, *, labels: str = "", fields: str = "", timeout: float | None = None) -> Iterator[Change]:
        """Everything that is there, then every change, through lost connections and restarts of the API server.

        Ends only when `timeout` seconds have passed, if it is given; the consumer may stop at any time.
        """
        end = None if timeout is None else time.monotonic() + timeout
        selectors = _selectors(labels, fields)
        pause = 0.0
        while end is None or time.monotonic() < end:
            try:
                listed = self.request("GET", path, query=selectors, timeout=_remaining(end, self._timeout))
                pause = 0.0
                yield Change("RESET", tuple(_items(listed)))
                yield from self._changes(path, selectors, since=listed["metadata"]["resourceVersion"], end=end)
            except ApiError as error:
                if error.status in (401, 403, 404):
                    raise
                pause = min(2.0, pause * 2 or 0.1)
                _sleep(pause * random.uniform(0.5, 1.0), end)

    def wait(
        self, path: str, done: Callable[[dict[str, Object]], bool], *, labels: str = "", timeout: float, what: str
    ) -> dict[str, Object]:
        """Wait until `done` says yes to the objects below a path, given by `namespace/name`."""
        seen: dict[str, Object] = {}
        for change in self.watch(path, labels=labels, timeout=timeout):
            if change.kind == "RESET":
                seen = {key(obj): obj for obj in change.objects}
            elif change.kind == "DELETED":
                seen.pop(key(change.object), None)
            else:
                seen[key(change.object)] = change.object
            if done(seen):
                return seen
        raise BoxError(f"{what} did not happen within {timeout:.0f} s; look at: box status, box logs")

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Mapping[str, Any] | JsonPatch | None = None,
        content_type: str = JSON,
        timeout: float | None = None,
    ) -> Object:
        """One call; the answer's JSON, or an ApiError with what the server said."""
        target = path + (f"?{urlencode(query)}" if query else "")
        data = None if body is None else json.dumps(body).encode()
        headers = {"Accept": JSON} | ({"Content-Type": content_type} if data is not None else {})
        status, answer = self._exchange(method, target, data=data, headers=headers, timeout=timeout or self._timeout)
        if status >= 400:
            raise _refusal(status, answer, method, path)
        parsed = json.loads(answer) if answer else {}
        return parsed if isinstance(parsed, dict) else {"value": parsed}

    def _exchange(
        self, method: str, target: str, *, data: bytes | None, headers: dict[str, str], timeout: float
    ) -> tuple[int, bytes]:
        """Use a kept connection; the server may have closed it since, which a fresh one settles."""
        with self._lock:
            kept = self._idle.pop() if self._idle else None
        for connection in ([kept] if kept else []) + [self._connect(timeout)]:
            try:
                if connection.sock is not None:
                    connection.sock.settimeout(timeout)
                connection.request(method, target, body=data, headers=headers)
                response = connection.getresponse()
                answer = response.read()
            except TimeoutError as error:
                connection.close()
                raise _unreachable(method, target, f"no answer within {timeout:.0f} s") from error
            except (OSError, http.client.HTTPException) as error:
                connection.close()
                if connection is kept:
                    continue
                raise _unreachable(method, target, str(error) or type(error).__name__) from error
            if response.will_close:
                connection.close()
            else:
                with self._lock:
                    self._idle.append(connection)
            return response.status, answer
        raise AssertionError("the fresh connection returns or raises")

    def _connect(self, timeout: float) -> http.client.HTTPConnection:
        if self._tls:
            return http.client.HTTPSConnection(self._host, self._port, timeout=timeout, context=self._context)
        return http.client.HTTPConnection(self._host, self._port, timeout=timeout)

    def _changes(self, path: str, selectors: dict[str, str], *, since: str, end: float | None) -> Iterator[Change]:
        """Watch from a version on, again and again, until something asks for a new list (by an ApiError)."""
        while end is None or time.monotonic() < end:
            seconds = max(1, int(_remaining(end, WATCH_SECONDS)))
            query = selectors | {
                "watch": "true",
                "allowWatchBookmarks": "true",
                "resourceVersion": since,
                "timeoutSeconds": str(seconds),
            }
            begin = time.monotonic()
            for line in self._lines(f"{path}?{urlencode(query)}", path, read_timeout=seconds + 5.0):
                event = _parse_event(line, path)
                since = event["object"]["metadata"]["resourceVersion"]
                if event["type"] != "BOOKMARK":
                    yield Change(event["type"], (event["object"],))
            if time.monotonic() - begin < SHORTEST_WATCH:
                _sleep(SHORTEST_WATCH, end)

    def _lines(self, target: str, path: str, *, read_timeout: float) -> Iterator[bytes]:
        """The lines of a streamed answer, on a connection of its own."""
        connection = self._connect(self._timeout)
        try:
            connection.request("GET", target, headers={"Accept": JSON})
            response = connection.getresponse()
            if response.status >= 400:
                raise _refusal(response.status, response.read(), "WATCH", path)
            if connection.sock is not None:
                connection.sock.settimeout(read_timeout)
            while line := response.readline():
                yield line
        except (OSError, http.client.HTTPException) as error:
            raise _unreachable("WATCH", path, str(error) or type(error).__name__) from error
        finally:
            connection.close()

    def _resource(self, version: str, kind: str) -> Resource:
        found = self._resources.get((version, kind))
        if found is None:
            root = f"/apis/{version}" if "/" in version else f"/api/{version}"
            for entry in self.get(root)["resources"]:
                if "/" not in entry["name"]:
                    resource = Resource(plural=entry["name"], namespaced=entry["namespaced"])
                    self._resources[version, entry["kind"]] = resource
            found = self._resources.get((version, kind))
        if found is None:
            raise BoxError(f"The API server has no kind {kind} in {version}; apply its definition first.")
        return found


def _client_context(*, authority: bytes, certificate: bytes, private_key: bytes) -> ssl.SSLContext:
    context = ssl.create_default_context(cadata=authority.decode())
    # The ssl module takes a client certificate by file name only; a memory file keeps the key off the disk.
    descriptor = os.memfd_create("client")
    try:
        os.write(descriptor, certificate + b"\n" + private_key)
        context.load_cert_chain(f"/proc/self/fd/{descriptor}")
    finally:
        os.close(descriptor)
    return context


def _selectors(labels: str, fields: str) -> dict[str, str]:
    chosen = {"labelSelector": labels, "fieldSelector": fields}
    return {name: value for name, value in chosen.items() if value}


def _items(listed: Object) -> list[Object]:
    kind = str(listed.get("kind", "")).removesuffix("List")
    version = listed.get("apiVersion", "v1")
    return [{"apiVersion": version, "kind": kind} | item for item in listed.get("items") or []]


def _parse_event(line: bytes, path: str) -> Object:
    try:
        event: Object = json.loads(line)
    except ValueError as error:
        raise _unreachable("WATCH", path, "the connection was cut in the middle of an event") from error
    if event["type"] == "ERROR":
        status = event["object"]
        raise ApiError(
            status=int(status.get("code", 500)), reason=status.get("reason", ""), message=status.get("message", "")
        )
    return event


def _refusal(status: int, answer: bytes, method: str, path: str) -> ApiError:
    try:
        said = json.loads(answer)
        reason, message = str(said.get("reason", "")), str(said.get("message", ""))
    except (ValueError, AttributeError):
        reason, message = "", answer[:300].decode(errors="replace").strip()
    text = f"The API server answered {status} to {method} {path}: {message or reason or 'no reason given'}"
    return ApiError(status=status, reason=reason, message=text)


def _unreachable(method: str, target: str, why: str) -> ApiError:
    path = target.partition("?")[0]
    message = f"The API server could not be asked for {method} {path} ({why}); see: box status"
    return ApiError(status=0, reason="Unreachable", message=message)


def _remaining(end: float | None, most: float) -> float:
    return most if end is None else max(0.1, min(most, end - time.monotonic()))


def _sleep(seconds: float, end: float | None) -> None:
    time.sleep(seconds if end is None else max(0.0, min(seconds, end - time.monotonic())))
