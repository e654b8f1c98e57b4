"""Programs that print credentials: what they are told, and what becomes of what they say."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from etcd_operator.kube.credentials import bearer
from etcd_operator.kube.errors import ConfigurationError
from etcd_operator.kube.exec_plugin import ExecPlugin, PluginCommand

VERSION = "client.authentication.k8s.io/v1"
NOW = datetime(2026, 1, 1, tzinfo=UTC)


class Clock:
    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now


def plugin(script: str, *arguments: str, clock: Clock | None = None, **options: Any) -> ExecPlugin:
    command = PluginCommand(
        sys.executable, VERSION, args=("-c", script, *arguments), interactive_mode="Never", **options
    )
    return ExecPlugin(
        command,
        cluster_info=lambda: {"server": "https://c"},
        environment=os.environ,
        owner="jane",
        clock=clock or Clock(),
    )


def printing(status: Any, *, version: str = VERSION, kind: str = "ExecCredential") -> str:
    return f"print({json.dumps(json.dumps({'kind': kind, 'apiVersion': version, 'status': status}))})"


def counting(folder: Path, **status: Any) -> str:
    """A token that is a number, one more each time."""
    return (
        f"import json, pathlib; f = pathlib.Path({str(folder / 'count')!r}); "
        "n = int(f.read_text()) + 1 if f.exists() else 1; f.write_text(str(n)); "
        f"status = dict(token=str(n), **{status!r}); "
        f"print(json.dumps(dict(kind='ExecCredential', apiVersion={VERSION!r}, status=status)))"
    )


async def test_what_it_prints_is_kept_until_it_ends(tmp_path: Path) -> None:
    clock = Clock()
    found = plugin(counting(tmp_path, expirationTimestamp="2026-01-01T01:00:00Z"), clock=clock)

    assert await found.login() == bearer("1")
    clock.now = NOW + timedelta(minutes=59)
    assert await found.login() == bearer("1")
    clock.now = NOW + timedelta(minutes=59, seconds=55)
    assert await found.login() == bearer("2")


async def test_a_refused_login_is_replaced_once_for_all_who_were_refused(tmp_path: Path) -> None:
    found = plugin(counting(tmp_path))
    old = await found.login()

    assert await asyncio.gather(*(found.login(rejected=old) for _ in range(3))) == [bearer("2")] * 3


async def test_it_is_told_of_the_cluster_only_if_it_asks(tmp_path: Path) -> None:
    tell = f"import os; open({str(tmp_path / 'told')!r}, 'w').write(os.environ['KUBERNETES_EXEC_INFO']); "

    await plugin(tell + printing({"token": "t"})).login()
    assert json.loads((tmp_path / "told").read_text())["spec"] == {"interactive": False}

    await plugin(tell + printing({"token": "t"}), provide_cluster_info=True).login()
    told = json.loads((tmp_path / "told").read_text())
    assert told["spec"]["cluster"] == {"server": "https://c"}
    assert told["apiVersion"] == VERSION


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("import sys; sys.exit('no such profile')", "ended with 1 and said: no such profile"),
        ("print('hunter2')", r"what it printed \(8 bytes\) is not an ExecCredential"),
        (printing({"token": "t"}, kind="Pod"), "printed a Pod of"),
        (printing({"token": "t"}, version="client.authentication.k8s.io/v1beta1"), "instead of an ExecCredential of"),
        (printing(None), "has no status"),
        (printing({}), "neither a token nor a certificate"),
        (printing({"clientKeyData": "x"}), "half of a certificate"),
    ],
)
async def test_what_goes_wrong_names_the_program_and_its_user_and_no_secret(script: str, words: str) -> None:
    with pytest.raises(ConfigurationError, match=words) as refused:
        await plugin(script).login()

    assert f"the credential program {sys.executable} of user 'jane'" in str(refused.value)
    assert "hunter2" not in str(refused.value)


async def test_a_program_that_needs_a_person_is_refused_where_there_is_none() -> None:
    command = PluginCommand(sys.executable, VERSION, interactive_mode="Always")
    found = ExecPlugin(command, cluster_info=dict, environment=os.environ, owner="jane")

    with pytest.raises(ConfigurationError, match="needs a person at a terminal"):
        await found.login()


async def test_a_program_that_hangs_is_ended_with_the_call_that_waits_for_it(tmp_path: Path) -> None:
    script = f"import os, time; open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid())); time.sleep(600)"

    async def give_up() -> None:
        async with asyncio.timeout(10):
            waiting = asyncio.create_task(plugin(script).login())
            while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():  # noqa: ASYNC110
                await asyncio.sleep(0.02)
            waiting.cancel()
            await asyncio.wait((waiting,))

    await give_up()

    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


async def test_what_a_program_has_started_does_not_outlive_the_call_either(tmp_path: Path) -> None:
    """It holds the output open, and Python waits for the end of that too."""
    wrapper = (
        "import pathlib, subprocess, sys; "
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)']); "
        f"part = pathlib.Path({str(tmp_path / 'part')!r}); part.write_text(str(child.pid)); "
        f"part.rename({str(tmp_path / 'pid')!r}); child.wait()"
    )
    async with asyncio.timeout(120):
        waiting = asyncio.create_task(plugin(wrapper).login())
        while not (tmp_path / "pid").exists():  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        waiting.cancel()
        await asyncio.wait((waiting,))

        child = Path("/proc") / (tmp_path / "pid").read_text() / "cmdline"
        while child.exists() and child.read_bytes():  # noqa: ASYNC110 - empty: dead, and not yet collected by init
            await asyncio.sleep(0.02)


def test_a_command_with_a_slash_is_beside_the_kubeconfig(tmp_path: Path) -> None:
    assert PluginCommand("bin/login", VERSION).beside(tmp_path).command == f"{tmp_path}/bin/login"
    assert PluginCommand("/bin/login", VERSION).beside(tmp_path).command == "/bin/login"
    assert PluginCommand("login", VERSION).beside(tmp_path).command == "login"
    assert PluginCommand("./login", VERSION).beside(Path()).command == f"{Path.cwd()}/login"
