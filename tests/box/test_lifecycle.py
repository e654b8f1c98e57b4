"""A box comes up, stays as it is when asked again, and goes without a trace, also when it was killed before."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from box import cgroups, lifecycle
from box.layout import REPOSITORY
from tests.box import host
from tests.box.driving import Box, eventually
from tests.box.pods import pod, wait_ready


@pytest.fixture
def small() -> Iterator[Box]:
    """A box with one worker, for this file alone."""
    the_box = Box("life")
    the_box("down")
    yield the_box
    the_box("down")


def nodes(box: Box) -> list[str]:
    return box.kubectl("get", "nodes", "-o", "name").split()


def test_what_comes_up_goes_without_a_trace(small: Box) -> None:
    before = host.look()

    small("up", "--fresh", "--nodes", "1", timeout=900)
    small.apply(
        pod("p", "default", command=["sleep", "1000"]),
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": "c", "namespace": "default"},
            "spec": {
                "storageClassName": "box-sized",
                "accessModes": ["ReadWriteOnce"],
                "resources": {"requests": {"storage": "64Mi"}},
            },
        },
        pod(
            "q",
            "default",
            command=["sleep", "1000"],
            volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}],
            mounts=[{"name": "v", "mountPath": "/v"}],
        ),
    )
    wait_ready(small, "default", "p", "q")
    small("s3", "mb", "some-bucket")
    small("net", "delay", "w1", "5")
    while_up = host.look()
    told = small("down")

    assert "nothing of it is left" in told
    eventually(lambda: no_change_since(before), within=10)
    assert host.processes_naming(str(small.layout.state)) == []
    unchanged = ("mounts", "links", "routes", "rules", "sysctls")
    assert {name: what for name, what in before.changes(while_up).items() if name in unchanged} == {}


def test_up_twice_changes_nothing_and_down_twice_is_no_error(small: Box) -> None:
    small("up", "--nodes", "1", timeout=900)
    room = lifecycle.room_pid(small.layout)

    again = small("up", "--nodes", "1")

    assert "nothing was changed" in again
    assert lifecycle.room_pid(small.layout) == room
    other = small.command("up", "--nodes", "3")
    assert other.returncode == 1
    assert "--nodes 1" in other.stderr
    small("down")
    assert "was not running" in small("down")


def test_what_was_in_the_cluster_is_there_again_after_down_and_up_unless_it_is_to_be_fresh(small: Box) -> None:
    small("up", "--fresh", "--nodes", "1", timeout=900)
    small.kubectl("create", "configmap", "kept", "--from-literal=a=b")
    small("down")

    small("up", "--nodes", "1")
    assert small.kubectl("get", "configmap", "kept", "-o", "jsonpath={.data.a}") == "b"
    small("down")

    small("up", "--fresh", "--nodes", "1")
    assert "kept" not in small.kubectl("get", "configmap", "-o", "name")


def test_it_comes_up_after_everything_of_it_was_killed(small: Box) -> None:
    small("up", "--nodes", "1", timeout=900)

    for pid in cgroups.processes(small.layout.cgroup):
        with_luck_already_gone(pid)
    eventually(lambda: not cgroups.processes(small.layout.cgroup), within=10)
    assert small.command("status").returncode == 1

    small("up", "--nodes", "1")
    assert nodes(small) == ["node/w1"]


@pytest.mark.parametrize("moment", [0.4, 1.0, 2.0])
def test_an_interrupted_up_is_understood_by_up_and_by_down(small: Box, moment: float) -> None:
    interrupted = interrupt_up(small, after=moment)
    assert interrupted.returncode in (130, 0), interrupted.stderr  # a fast machine may be done by then
    assert "Traceback" not in interrupted.stderr
    assert "nothing of it is left" in small("down")
    assert cgroups.processes(small.layout.cgroup) == set()

    interrupt_up(small, after=moment)
    small("up", "--nodes", "1")
    assert nodes(small) == ["node/w1"]


def test_up_says_which_node_it_would_wait_for_in_vain(small: Box) -> None:
    small("up", "--nodes", "1", timeout=900)
    small("node", "kill", "w1")

    done = small.command("up")

    assert done.returncode == 1
    assert "w1 has no power: box --name life node start w1" in done.stderr


def test_bad_input_is_answered_with_a_sentence(small: Box) -> None:
    for words, sentence in (
        (("up", "--nodes", "0"), r"1 to 9 workers, not 0"),
        (("up", "--nodes", "many"), r"1 to 9 workers, not many"),
        (("up", "--tolerate", "-1"), r"tolerate"),
        (("node", "kill", "w9"), r"not running. Start it with: box --name life up"),
        (("kubeconfig",), r"is down. Start it with: box --name life up"),
        (("net", "loss", "a", "b", "101"), r"0 to 100 percent, not 101"),
        (("s3", "env"), r"is down. Start it with: box --name life up"),
    ):
        done = small.command(*words)
        assert done.returncode in (1, 2), words
        assert re.search(sentence, done.stderr), (words, done.stderr)
        assert "Traceback" not in done.stderr


def test_without_root_it_says_so_and_changes_nothing(tmp_path: Path) -> None:
    # Somebody else, who may still read this checkout and its Python, wherever they are.
    somebody = ("setpriv", "--reuid=65534", "--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search")
    argv = [*somebody, sys.executable, str(REPOSITORY / "box/box"), "up"]
    tmp_path.chmod(0o777)
    environment = {**os.environ, "BOX_HOME": str(tmp_path / "home")}

    done = subprocess.run(argv, env=environment, capture_output=True, text=True, check=False)

    assert done.returncode == 1
    assert "it needs root" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_nodes_would_hide_is_refused(small: Box) -> None:
    done = small.command("up", home="/var/lib/some-box")

    assert done.returncode == 1
    assert "below /var" in done.stderr
    assert not Path("/var/lib/some-box").exists()


def test_a_purge_drops_data_builds_and_images(small: Box, tmp_path: Path) -> None:
    for folder in ("boxes/life/nodes/w1", "tools/some/abc", "images", "store/root"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "file").touch()

    told = small.command("down", "--purge", home=str(tmp_path))

    assert told.returncode == 0, told.stderr
    assert list(tmp_path.iterdir()) == []


def no_change_since(before: host.Host) -> bool:
    changes = before.changes(host.look())
    assert changes == {}
    return True


def with_luck_already_gone(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def interrupt_up(box: Box, *, after: float) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, str(REPOSITORY / "box/box"), "--name", box.layout.name, "up", "--nodes", "1"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        time.sleep(after)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    return subprocess.CompletedProcess(argv, process.returncode, out, err)
