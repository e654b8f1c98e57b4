"""What the provisioner's two watches know: the claims and the volumes, by the name of the volume."""

from __future__ import annotations

import threading

from box.kube.api import Object
from box.volume.claims import kind_of, removable

CLAIMS = "/api/v1/persistentvolumeclaims"
VOLUMES = "/api/v1/persistentvolumes"


class Seen:
    """What the two watches know; written by them, read by all."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._claims: dict[str, Object] = {}
        self._volumes: dict[str, Object] = {}
        self._leftovers: dict[str, Object] = {}
        self._cleaned: set[str] = set()

    def put(self, path: str, name: str, obj: Object) -> None:
        with self._lock:
            if path != VOLUMES or name not in self._cleaned:
                self._of(path)[name] = obj

    def drop(self, path: str, name: str) -> None:
        """Forget an object; the data of a volume that was deleted by hand is still to be removed."""
        with self._lock:
            self._drop(path, name)

    def replace(self, path: str, objects: dict[str, Object]) -> set[str]:
        """Take over a whole list; returns every name that is or was in it."""
        with self._lock:
            known = self._of(path)
            names = set(known) | set(objects)
            for name in set(known) - set(objects):
                self._drop(path, name)
            known.update(objects)
            return names

    def clean(self, name: str) -> None:
        """Note that a volume's data is removed."""
        with self._lock:
            self._cleaned.add(name)
            self._leftovers.pop(name, None)
            self._volumes.pop(name, None)

    def pair(self, name: str) -> tuple[Object | None, Object | None]:
        with self._lock:
            return self._claims.get(name), self._volumes.get(name) or self._leftovers.get(name)

    def _drop(self, path: str, name: str) -> None:
        gone = self._of(path).pop(name, None)
        if path == VOLUMES:
            if gone is not None and kind_of(gone) and removable(gone):
                self._leftovers[name] = gone
            self._cleaned.discard(name)

    def _of(self, path: str) -> dict[str, Object]:
        return self._claims if path == CLAIMS else self._volumes
