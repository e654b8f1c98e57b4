from __future__ import annotations

import dataclasses
import io
import os
import shutil
import sys
import threading
from pathlib import Path

import pytest

from box.layout import BoxError, Layout
from box.lock import locked
from box.progress import Ticker, clock, size
from box.toolchain import builds
from box.toolchain.downloads import DownloadError, last_lines, upstream_version, with_retries
from box.toolchain.go_command import Go, find_go, is_download_failure, run_go
from box.toolchain.tool_build import build_flags, default_name
from box.toolchain.tools import GO_SOURCES, GoModule, Tool, Wheel, tool


def silent(_: str) -> None:
    pass


def a_module(at: Path) -> Tool:
    shutil.copytree(GO_SOURCES / "etcd-3.6", at)
    return Tool("x", "for this test", GoModule(str(at), programs=(("x", "."),)), cold_seconds=1)


def test_a_changed_pin_or_checksum_or_source_gives_another_fingerprint(tmp_path: Path) -> None:
    module = a_module(tmp_path / "m")
    seen = {builds.fingerprint(module)}

    for name in ("go.mod", "go.sum", "main.go"):
        with (tmp_path / "m" / name).open("a") as file:
            file.write("// changed\n")
        seen.add(builds.fingerprint(module))

    assert len(seen) == 4


def test_a_changed_flag_gives_another_fingerprint(tmp_path: Path) -> None:
    module = a_module(tmp_path / "m")
    assert isinstance(module.source, GoModule)
    other = dataclasses.replace(module, source=dataclasses.replace(module.source, uncompiled=("a.go",)))

    assert builds.fingerprint(module) != builds.fingerprint(other)


def test_the_two_kubernetes_share_their_source_and_not_their_fingerprint() -> None:
    assert builds.fingerprint(tool("kubernetes-1.36")) != builds.fingerprint(tool("kubernetes-1.37"))


def test_a_new_checksum_of_a_wheel_gives_another_fingerprint() -> None:
    pinned = tool("etcd-3.5.1")
    assert isinstance(pinned.source, Wheel)
    other = dataclasses.replace(pinned, source=dataclasses.replace(pinned.source, sha256=("0" * 64,)))

    assert builds.fingerprint(pinned) != builds.fingerprint(other)


def test_missing_is_what_has_no_folder_of_the_current_fingerprint(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    builds.folder(layout, "busybox").mkdir(parents=True)
    (layout.tools / "etcd-3.4" / "of-another-pin").mkdir(parents=True)

    assert builds.missing(layout, ["busybox", "etcd-3.4", "etcd-3.5.1"]) == ["etcd-3.4", "etcd-3.5.1"]


def test_what_is_built_is_neither_locked_nor_built_again(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    builds.folder(layout, "busybox").mkdir(parents=True)
    said: list[str] = []

    builds.ensure(layout, ["busybox"], say=said.append)

    assert said == []
    assert not (layout.tools / "lock").exists()


def test_the_two_newest_builds_of_a_tool_are_kept_and_the_one_in_use_counts_as_newest(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    current = builds.folder(layout, "busybox")
    for age, build in enumerate([current.with_name("a"), current.with_name("b"), current.with_name("c"), current]):
        build.mkdir(parents=True)
        os.utime(build, (1000 - age, 1000 - age))

    builds.ensure(layout, ["busybox"], say=silent)

    assert {build.name for build in current.parent.iterdir()} == {"a", current.name}


def test_kubernetes_is_told_its_version_by_the_linker() -> None:
    source = tool("kubernetes-1.37").source
    assert isinstance(source, GoModule)

    flags = build_flags(source)

    assert flags[:2] == ["-modfile=kubernetes-1.37.mod", "-mod=readonly"]
    assert f"-X k8s.io/component-base/version.gitVersion=v{source.version}" in flags[-1]
    assert "-X k8s.io/client-go/pkg/version.gitMinor=37" in flags[-1]


def test_a_module_with_files_left_out_is_built_from_its_vendored_copy() -> None:
    source = tool("etcd-3.2").source
    assert isinstance(source, GoModule)

    assert build_flags(source)[0] == "-mod=vendor"


@pytest.mark.parametrize(
    ("package", "binary"),
    [
        (".", "coredns"),
        ("go.etcd.io/etcd/server/v3", "server"),
        ("github.com/coreos/etcd", "etcd"),
        ("github.com/versity/versitygw/cmd/versitygw", "versitygw"),
        ("example.org/cmd/vet", "vet"),
    ],
)
def test_a_binary_is_found_under_the_name_that_go_gives_it(package: str, binary: str) -> None:
    assert default_name(GoModule("coredns", ()), package) == binary


@pytest.mark.parametrize(
    "output",
    [
        'go: a@v1: Get "http://x/a.zip": dial tcp 127.0.0.1:9: connect: connection refused',
        "go: a@v1: reading http://x/a.zip: 502 Bad Gateway",
        "go: a@v1: read tcp 10.0.0.1:443: i/o timeout",
        "go: a@v1: stream error: stream ID 5; INTERNAL_ERROR; received from peer",
    ],
)
def test_a_failure_of_the_network_is_worth_another_try(output: str) -> None:
    assert is_download_failure(output)


@pytest.mark.parametrize(
    "output",
    [
        "# box.local/pause\n./main.go:24:19: too many return values",
        "go: updates to go.mod needed",
        "verifying a@v1: checksum mismatch\n dial tcp",
        "go: a@v1: reading http://x/a.zip: 404 Not Found",
    ],
)
def test_an_error_in_the_code_or_a_wrong_checksum_is_final(output: str) -> None:
    assert not is_download_failure(output)


def a_go(tmp_path: Path, script: str) -> Go:
    program = tmp_path / "go"
    program.write_text(f"#!{sys.executable}\nimport sys\n{script}\n")
    program.chmod(0o755)
    return Go(str(program), "go1.26 linux/amd64")


def test_messages_of_go_are_seen_line_by_line_and_its_output_is_returned(tmp_path: Path) -> None:
    go = a_go(tmp_path, "print('a\\nb'); print('fmt\\nos', file=sys.stderr)")
    lines: list[str | None] = []

    assert run_go(go, ["build"], folder=tmp_path, watch=lines.append) == "a\nb\n"
    assert [line for line in lines if line] == ["fmt", "os"]


def test_a_compile_error_shows_the_last_lines_of_go(tmp_path: Path) -> None:
    go = a_go(tmp_path, "print('# pkg\\n./a.go:1: bad', file=sys.stderr); sys.exit(1)")

    with pytest.raises(BoxError, match=r"(?s)would again.*\./a\.go:1: bad") as caught:
        run_go(go, ["build"], folder=tmp_path, watch=lambda _: None)
    assert not isinstance(caught.value, DownloadError)


def test_a_failed_download_of_go_can_be_tried_again(tmp_path: Path) -> None:
    go = a_go(tmp_path, "print('go: dial tcp: no such host', file=sys.stderr); sys.exit(1)")

    with pytest.raises(DownloadError, match="no such host"):
        run_go(go, ["list"], folder=tmp_path, watch=lambda _: None)


def test_a_go_that_is_too_old_is_refused_with_the_version_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    a_go(tmp_path, "print('go1.19.8\\nlinux\\namd64')")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)

    with pytest.raises(BoxError, match=r"Go 1\.26\.0 or newer is needed, .* is go1\.19\.8"):
        find_go(GO_SOURCES / "pause")


def test_a_download_is_tried_three_times_and_each_failure_is_said() -> None:
    answers = iter([DownloadError("first"), DownloadError("second"), None])
    said: list[str] = []

    def fetch() -> str:
        error = next(answers)
        if error:
            raise error
        return "done"

    assert with_retries("etcd", fetch, say=said.append, pauses=(0, 0)) == "done"
    assert [("first" in line, "try 2 of 3" in line) for line in said[:1]] == [(True, True)]
    assert [("second" in line, "try 3 of 3" in line) for line in said[1:]] == [(True, True)]


def test_after_the_last_try_the_error_says_what_to_do() -> None:
    def fetch() -> None:
        raise DownloadError("no route")

    with pytest.raises(BoxError, match=r"etcd: the download failed 3 times \(no route\): check the network"):
        with_retries("etcd", fetch, say=silent, pauses=(0, 0))


def test_an_error_that_is_not_the_networks_is_not_tried_again() -> None:
    calls = []

    def fetch() -> None:
        calls.append(1)
        raise BoxError("compile error")

    with pytest.raises(BoxError, match="compile error"):
        with_retries("etcd", fetch, say=silent, pauses=(0, 0))
    assert len(calls) == 1


@pytest.mark.parametrize(
    ("version", "release"),
    [("1:1.35.0-4+deb12u1+b1", "1.35.0"), ("3.4.23-4+b4", "3.4.23"), ("20230311", "20230311"), ("1.0-rc-2", "1.0-rc")],
)
def test_the_release_in_a_debian_version(version: str, release: str) -> None:
    assert upstream_version(version) == release


def test_last_lines_skip_empty_ones() -> None:
    assert last_lines("a\n\nb\nc\n\n", 2) == "b\nc"


def test_times_of_builds_are_kept_and_a_damaged_file_is_no_obstacle(tmp_path: Path) -> None:
    times = builds.Times(tmp_path / "times.json")
    (tmp_path / "times.json").write_text("{ cut")

    assert times.last("etcd") is None
    times.record("etcd", 12.34)
    times.record("coredns", 5)

    assert (times.last("etcd"), times.last("coredns")) == (12.3, 5.0)


def test_the_second_holder_of_a_lock_waits_and_says_so(tmp_path: Path) -> None:
    said: list[str] = []
    waiting = threading.Event()
    order: list[str] = []

    def say(line: str) -> None:
        said.append(line)
        waiting.set()

    def second() -> None:
        with locked(tmp_path / "lock", what="build", say=say):
            order.append("second")

    thread = threading.Thread(target=second)
    with locked(tmp_path / "lock", what="build", say=silent):
        thread.start()
        assert waiting.wait(10)
        order.append("first")
    thread.join(10)

    assert order == ["first", "second"]
    assert said == ["Another build is running: waiting for it to end."]


def test_readers_of_a_lock_do_not_wait_for_each_other(tmp_path: Path) -> None:
    said: list[str] = []

    with (
        locked(tmp_path / "lock", what="import", say=said.append, shared=True),
        locked(tmp_path / "lock", what="import", say=said.append, shared=True),
    ):
        assert said == []


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_in_a_log_progress_is_a_line_now_and_then() -> None:
    said: list[str] = []
    with Ticker(said.append, stream=io.StringIO(), period=3600) as ticker:
        ticker.show("one")
    with Ticker(said.append, stream=io.StringIO(), period=0) as ticker:
        ticker.show("two")

    assert said == ["two"]


def test_on_a_terminal_the_progress_line_is_gone_afterwards() -> None:
    said: list[str] = []
    screen = Terminal()
    with Ticker(said.append, stream=screen) as ticker:
        ticker.show("one")

    assert said == []
    assert screen.getvalue().endswith("\r\x1b[K")


@pytest.mark.parametrize(("seconds", "text"), [(0, "0:00"), (192.7, "3:12"), (3792, "1:03:12")])
def test_durations_as_people_read_them(seconds: float, text: str) -> None:
    assert clock(seconds) == text


@pytest.mark.parametrize(("count", "text"), [(999, "999 bytes"), (139_000_000, "139 MB"), (12 * 10**9, "12.0 GB")])
def test_sizes_as_people_read_them(count: int, text: str) -> None:
    assert size(count) == text
