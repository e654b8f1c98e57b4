"""Components can be frozen, woken and restarted, and what depends on them gets over it."""

from __future__ import annotations

import threading
import time
from contextlib import closing

from box.kube.api import Api, Change
from tests.box.driving import Box, eventually


def test_a_restart_of_the_api_server_is_survived_by_a_watch(box: Box, namespace: str) -> None:
    seen: list[Change] = []

    def watch() -> None:
        with closing(Api.from_kubeconfig(box.layout.kubeconfig)) as api:
            for change in api.watch(f"/api/v1/namespaces/{namespace}/configmaps", timeout=60):
                seen.append(change)
                if any(entry["metadata"]["name"] == "after" for entry in change.objects):
                    return

    watching = threading.Thread(target=watch)
    watching.start()
    box.kubectl("create", "configmap", "before", "-n", namespace)
    eventually(lambda: any("before" in str(change.objects) for change in seen), within=20)

    box("restart", "apiserver")
    eventually(lambda: not box.api.ready(), within=20, pause=0.01)
    eventually(box.api.ready, within=60)
    eventually(lambda: box.kubectl("create", "configmap", "after", "-n", namespace), within=30)

    watching.join(timeout=60)
    assert not watching.is_alive(), "the watch never saw what came after the restart"


def test_a_paused_component_does_nothing_until_it_is_resumed(box: Box, namespace: str) -> None:
    box("pause", "scheduler")
    try:
        box.kubectl("run", "waiting", "-n", namespace, "--image=busybox", "--", "sleep", "1000")
        time.sleep(3)
        assert "nodeName" not in box.get("pod", "waiting", namespace)["spec"]
        assert "scheduler (paused)" in box("status")
    finally:
        box("resume", "scheduler")

    assert eventually(lambda: box.get("pod", "waiting", namespace)["spec"].get("nodeName"), within=30)


def test_a_component_on_a_worker_is_restarted_by_its_name_and_node(box: Box) -> None:
    before = box("logs", "kubelet@w1")

    box("restart", "kubelet@w1")

    eventually(lambda: box("logs", "kubelet@w1").count("--- ended") == before.count("--- ended") + 1, within=20)
    eventually(lambda: "kubelet (restarted" in box("status"), within=20)


def test_a_component_that_is_not_there_is_named(box: Box) -> None:
    for words, sentence in (
        (("pause", "kubelet"), "say which, such as kubelet@w1"),
        (("pause", "nothing@w1"), "it has: containerd, kubelet, proxy"),
        (("pause", "nothing"), "'nothing' is not running. Beside the nodes there are"),
        (("logs", "nothing"), "there is no log of 'nothing'"),
    ):
        failed = box.command(*words)
        assert failed.returncode == 1
        assert sentence in failed.stderr
