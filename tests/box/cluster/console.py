"""The tests' side of `speaking`: keys, members and traffic of one cluster, through a process in the box's network."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

from box.layout import REPOSITORY
from tests.box.driving import Box


@dataclass(frozen=True)
class Report:
    """What became of the writes of a while."""

    acknowledged: int
    lost: list[int]
    errors: list[str]
    longest: float  # seconds between two acknowledged writes


@dataclass(frozen=True)
class Listed:
    """A member as etcd lists it; one that has not started has no name."""

    id: int
    name: str
    learner: bool
    urls: tuple[str, ...]


class Console:
    """`way`: address of the client service, its name, certificates and login, where there are such."""

    def __init__(self, box: Box, way: dict[str, Any]) -> None:
        argv = [sys.executable, "-m", "tests.box.cluster.speaking"]
        environment = {**os.environ, "PYTHONPATH": f"{REPOSITORY}:{REPOSITORY / 'src'}", "GRPC_VERBOSITY": "NONE"}
        self._process = box.inside(
            lambda: subprocess.Popen(
                argv, cwd=REPOSITORY, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
        )
        self._send(way)

    def close(self) -> None:
        assert self._process.stdin
        assert self._process.stdout
        self._process.kill()
        self._process.wait()
        self._process.stdin.close()
        self._process.stdout.close()

    def put(self, key: str, value: str) -> None:
        self._ask("put", key=key, value=value)

    def get(self, key: str) -> str | None:
        found: str | None = self._ask("get", key=key)
        return found

    def members(self) -> list[Listed]:
        listed = self._ask("members")
        return [Listed(one["id"], one["name"], one["learner"], tuple(one["urls"])) for one in listed]

    def status(self, address: str, host: str) -> dict[str, Any]:
        """Of the one member at an address."""
        found: dict[str, Any] = self._ask("status", address=f"{address}:2379", host=host)
        return found

    def add(self, url: str, *, learner: bool) -> int:
        return int(self._ask("add", url=url, learner=learner))

    def remove(self, id: int) -> None:  # noqa: A002
        self._ask("remove", id=id)

    def secure(self, password: str) -> None:
        """Turns etcd's authentication on."""
        self._ask("secure", password=password)

    def begin_writing(self) -> None:
        self._ask("begin")

    def end_writing(self) -> Report:
        return Report(**self._ask("end"))

    def _ask(self, what: str, **details: object) -> Any:
        self._send({"do": what, **details})
        assert self._process.stdout
        line = self._process.stdout.readline()
        assert line, f"the client of the cluster ended with {self._process.wait()}"
        answer = json.loads(line)
        assert "failed" not in answer, f"{what}: {answer['failed']}"
        return answer["said"]

    def _send(self, words: dict[str, Any]) -> None:
        assert self._process.stdin
        self._process.stdin.write(json.dumps(words) + "\n")
        self._process.stdin.flush()
