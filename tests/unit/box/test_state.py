"""What a box remembers, and how a command finds out whether it runs."""

from __future__ import annotations

import os
import socket
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from box import control, lifecycle, settings
from box.layout import BoxError, Layout
from box.node import reachable
from box.settings import Settings


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    deep = tmp_path / ("deep" * 20) / ("deeper" * 15)
    made = Layout(deep, "mine")
    made.state.mkdir(parents=True)
    return made


def test_settings_come_back_as_they_were_saved(layout: Layout) -> None:
    chosen = Settings(nodes=1, kubernetes="1.37", tolerate=7, relay_port=1234, boot="b", started=1.5)
    settings.save(layout, chosen)

    assert settings.load(layout) == chosen
    assert chosen.workers == ("w1",)
    assert chosen.tool == "kubernetes-1.37"


@pytest.mark.parametrize("content", ["", "{", '{"unknown": 1}', "[]"])
def test_settings_that_cannot_be_read_are_none(layout: Layout, content: str) -> None:
    assert settings.load(layout) is None
    layout.settings.write_text(content)
    assert settings.load(layout) is None


def test_a_process_that_is_not_the_room_is_never_taken_for_it(layout: Layout) -> None:
    assert lifecycle.room_pid(layout) is None
    for content in ("", "nonsense", "999999999", str(os.getpid())):
        (layout.state / "room.pid").write_text(content)
        assert lifecycle.room_pid(layout) is None


def test_without_a_room_a_command_says_how_to_start_it(layout: Layout) -> None:
    assert not control.answers(layout)
    with pytest.raises(BoxError, match="box --name mine up"):
        control.call(layout, "status")


def test_a_question_and_its_answer_pass_however_deep_the_folder_is(layout: Layout) -> None:
    assert len(str(layout.control)) > 108
    with control.short_path(layout) as path, socket.socket(socket.AF_UNIX) as listening:
        listening.bind(path)
        listening.listen()
        replies = [b'{"result": {"a": 1}}', b'{"error": "no such node"}', b""]

        def answer() -> None:
            for reply in replies:
                with listening.accept()[0] as connection:
                    connection.recv(1000)
                    connection.sendall(reply)

        answering = threading.Thread(target=answer)
        answering.start()
        assert control.call(layout, "status") == {"a": 1}
        with pytest.raises(BoxError, match="no such node"):
            control.call(layout, "node", name="w9")
        with pytest.raises(BoxError, match="ended before it answered"):
            control.call(layout, "ping")
        answering.join()


def test_only_one_up_or_down_at_a_time(layout: Layout) -> None:
    with lifecycle.exclusive(layout), pytest.raises(BoxError, match="just bringing"), lifecycle.exclusive(layout):
        pass


def test_an_address_is_reachable_when_somebody_listens() -> None:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        port = listening.getsockname()[1]
        assert not reachable(f"tcp:127.0.0.1:{port}")
        listening.listen()
        assert reachable(f"tcp:127.0.0.1:{port}")
    assert reachable("")
    assert not reachable("unix:/nowhere/at/all")


def test_data_is_lost_with_a_restart_of_the_machine_and_kept_from_another_version(layout: Layout) -> None:
    said: list[str] = []
    before = Settings(kubernetes="1.36", boot=settings.boot_id())
    newer = Settings(kubernetes="1.37")

    assert not lifecycle.is_lost(layout, before, before, say=said.append)
    assert said == []
    with pytest.raises(BoxError, match=r"1\.36, not 1\.37.*box --name mine up --fresh --kubernetes 1\.37"):
        lifecycle.is_lost(layout, before, newer, say=said.append)
    assert lifecycle.is_lost(layout, replace(before, boot="an earlier one"), newer, say=said.append)
    assert "restarted" in said[0]


@pytest.mark.parametrize("name", ["/", "..", ".", "a/b", "", "-a", "A", "x" * 32, "a b"])
def test_a_name_never_leads_out_of_the_folder(tmp_path: Path, name: str) -> None:
    with pytest.raises(BoxError, match="cannot be a box's name"):
        Layout(tmp_path, name)


def test_boxes_of_one_name_in_two_folders_have_cgroups_of_their_own(tmp_path: Path) -> None:
    assert Layout(tmp_path / "a", "box").cgroup != Layout(tmp_path / "b", "box").cgroup
