"""Credentials that a program prints: the way into most managed clusters.

The program is run when there is no login yet, when the last one has ended, and when the server refused it. It is told
what it needs in KUBERNETES_EXEC_INFO and prints an ExecCredential. One run at a time, whoever asks meanwhile gets its
result. A person may be asked for a password only where one sits in front of us.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

import msgspec

from etcd_operator.kube.credentials import Login, bearer
from etcd_operator.kube.errors import ConfigurationError
from etcd_operator.kube.tls import Certificate

ClusterInfo = Callable[[], dict[str, Any]]

VERSIONS = ("client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1")
AHEAD = timedelta(seconds=10)  # a login that ends within this is taken for ended: requests take time
_SHOWN = 500  # of what a failed program said
_LAST_BREATH = 1.0  # seconds, for a program that was killed


class _Variable(msgspec.Struct, frozen=True):
    name: str
    value: str = ""


class PluginCommand(msgspec.Struct, frozen=True, rename="camel"):
    """How a kubeconfig says which program."""

    command: str
    api_version: str
    args: tuple[str, ...] = ()
    env: tuple[_Variable, ...] = ()
    install_hint: str = ""
    provide_cluster_info: bool = False
    interactive_mode: Literal["Never", "IfAvailable", "Always"] = "IfAvailable"

    def beside(self, folder: Path) -> PluginCommand:
        """A relative path with a slash is relative to the kubeconfig; a bare name is looked for in PATH."""
        if os.sep not in self.command:
            return self
        # Absolute, or `./login` beside a kubeconfig in this folder would become a name to be looked for in PATH.
        return msgspec.structs.replace(self, command=str(folder.absolute() / self.command))


class _Status(msgspec.Struct, frozen=True, rename="camel"):
    expiration_timestamp: datetime | None = None
    token: str = ""
    client_certificate_data: str = ""
    client_key_data: str = ""


class _ExecCredential(msgspec.Struct, frozen=True, rename="camel"):
    kind: str = ""
    api_version: str = ""
    status: _Status | None = None


def _now() -> datetime:
    return datetime.now(UTC)


class ExecPlugin:
    """The login that a program gives, kept until it ends."""

    def __init__(
        self,
        command: PluginCommand,
        *,
        cluster_info: ClusterInfo,
        environment: Mapping[str, str],
        owner: str,
        clock: Callable[[], datetime] = _now,
    ) -> None:
        self._command = command
        self._owner = owner
        if command.api_version not in VERSIONS:
            raise self._error(f"it speaks {command.api_version!r}, and we speak {' and '.join(VERSIONS)}")
        self._cluster_info = cluster_info
        self._environment = environment
        self._clock = clock
        self._one_at_a_time = asyncio.Lock()
        self._login: Login | None = None
        self._ends: datetime | None = None

    async def login(self, *, rejected: Login | None = None) -> Login:
        async with self._one_at_a_time:
            ended = self._ends is not None and self._clock() + AHEAD >= self._ends
            if self._login is None or ended or self._login == rejected:
                status = await self._run()
                self._login, self._ends = self._made_of(status), status.expiration_timestamp
            return self._login

    async def _run(self) -> _Status:
        interactive = self._interactive()
        try:
            process = await asyncio.create_subprocess_exec(
                self._command.command,
                *self._command.args,
                env={
                    **self._environment,
                    **{one.name: one.value for one in self._command.env},
                    **self._told(interactive),
                },
                stdin=None if interactive else asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                # What it says to a person has to reach that person; else it is kept for the error.
                stderr=None if interactive else asyncio.subprocess.PIPE,
                # A group of its own, to be ended as a whole; yet a terminal is read only by the group in front of it.
                start_new_session=not interactive,
            )
        except OSError as error:
            hint = f"\n{self._command.install_hint}" if self._command.install_hint else ""
            raise self._error(f"it cannot be started: {error.strerror}{hint}") from error
        try:
            output, complaint = await process.communicate()
        finally:
            if process.returncode is None:
                await _end(process, group=not interactive)
        if process.returncode:
            said = (complaint or b"").decode(errors="replace").strip()[-_SHOWN:]
            raise self._error(f"it ended with {process.returncode}" + (f" and said: {said}" if said else ""))
        return self._understood(output)

    def _understood(self, output: bytes) -> _Status:
        try:
            found = msgspec.json.decode(output, type=_ExecCredential)
        except (msgspec.DecodeError, UnicodeDecodeError):
            # Never the output itself: it may hold most of a token.
            raise self._error(f"what it printed ({len(output)} bytes) is not an ExecCredential in JSON") from None
        if (found.kind, found.api_version) != ("ExecCredential", self._command.api_version):
            raise self._error(
                f"it printed a {found.kind or 'thing of no kind'} of {found.api_version!r} instead of an "
                f"ExecCredential of {self._command.api_version!r}"
            )
        if found.status is None:
            raise self._error("the ExecCredential that it printed has no status")
        return found.status

    def _made_of(self, status: _Status) -> Login:
        if bool(status.client_certificate_data) != bool(status.client_key_data):
            raise self._error("it gave half of a certificate and key")
        certificate = None
        if status.client_certificate_data:
            certificate = Certificate(
                chain=status.client_certificate_data.encode(), key=status.client_key_data.encode()
            )
        if not (status.token or certificate):
            raise self._error("it gave neither a token nor a certificate")
        headers = bearer(status.token).headers if status.token else ()
        return Login(headers, certificate)

    def _interactive(self) -> bool:
        somebody = sys.stdin is not None and sys.stdin.isatty()
        if self._command.interactive_mode == "Always" and not somebody:
            raise self._error("it needs a person at a terminal, and there is none")
        return somebody and self._command.interactive_mode != "Never"

    def _told(self, interactive: bool) -> dict[str, str]:
        spec: dict[str, Any] = {"interactive": interactive}
        if self._command.provide_cluster_info:
            spec["cluster"] = self._cluster_info()
        told = {"kind": "ExecCredential", "apiVersion": self._command.api_version, "spec": spec}
        return {"KUBERNETES_EXEC_INFO": json.dumps(told)}

    def _error(self, problem: str) -> ConfigurationError:
        return ConfigurationError(f"the credential program {self._command.command} of user {self._owner!r}: {problem}")


async def _end(process: asyncio.subprocess.Process, *, group: bool) -> None:
    """With what it has started, as that holds its output open; what has left the group is not waited for."""
    with suppress(ProcessLookupError):
        if group:
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    with suppress(TimeoutError):
        async with asyncio.timeout(_LAST_BREATH):
            await process.wait()
