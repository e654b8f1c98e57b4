"""A file that somebody else replaces while we run: a mounted token, a certificate authority, a client certificate.

Each read looks at the file's identity first, which costs about a microsecond, and reads again only if it changed. The
kubelet swaps a symbolic link, others rename or rewrite: inode, size and time together notice all of them. A file that
is gone or empty for a moment is answered with what it held before, because that still works more often than not.
"""

from __future__ import annotations

from pathlib import Path

from etcd_operator.kube.errors import ConfigurationError

_Identity = tuple[int, int, int]


class WatchedFile:
    """The content of a file, as it is now."""

    def __init__(self, path: Path, *, role: str) -> None:
        self.path = path
        self._role = role  # for the message when it cannot be read
        self._identity: _Identity | None = None
        self._content = b""

    def read(self) -> bytes:
        try:
            identity = self._look()
            if identity != self._identity:
                content = self.path.read_bytes()
                if content or self._identity is None:
                    self._content, self._identity = content, identity
        except OSError as error:
            if self._identity is None:
                problem = error.strerror or str(error)
                raise ConfigurationError(f"the {self._role} {self.path} cannot be read: {problem}") from error
        return self._content

    def forget(self) -> None:
        """The next read reads, whatever the file looks like: what it held was refused."""
        if self._identity is not None:
            self._identity = (0, 0, 0)

    def _look(self) -> _Identity:
        found = self.path.stat()
        return found.st_ino, found.st_size, found.st_mtime_ns
