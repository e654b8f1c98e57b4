"""What people do with kubectl works: exec, logs, port-forward, and the commands that lend it to them."""

from __future__ import annotations

import os
import subprocess
import urllib.request

import pytest

from tests.box.driving import Box, eventually
from tests.box.pods import wait_ready, web


@pytest.fixture
def talking(box: Box, namespace: str) -> str:
    box.apply(web("web", namespace))
    wait_ready(box, namespace, "web")
    return namespace


def test_exec_runs_a_program_and_passes_its_exit_code_on(box: Box, talking: str) -> None:
    assert box.exec(talking, "web", "hostname").strip() == "web"

    failed = box.command("kubectl", "exec", "-n", talking, "web", "--", "sh", "-c", "exit 7")
    assert failed.returncode == 7


def test_logs_are_what_the_pod_wrote(box: Box, talking: str) -> None:
    assert box.kubectl("logs", "-n", talking, "web").strip() == "started"


def test_a_forwarded_port_leads_to_the_pod(box: Box, talking: str) -> None:
    argv = [box("env").split("PATH=")[1].split(":")[0] + "/kubectl", "port-forward", "-n", talking, "pod/web", ":8080"]
    environment = {**os.environ, "KUBECONFIG": box("kubeconfig").strip()}
    with subprocess.Popen(argv, env=environment, stdout=subprocess.PIPE, text=True) as forwarding:
        try:
            assert forwarding.stdout is not None
            port = forwarding.stdout.readline().split(":")[1].split()[0]

            def page() -> bytes:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=5) as answer:
                    return bytes(answer.read())

            assert eventually(page, within=20).strip() == b"web"
        finally:
            forwarding.terminate()


def test_the_lines_of_env_give_a_shell_kubectl_and_its_configuration(box: Box) -> None:
    script = 'eval "$("$0" "$1" env)"; kubectl get nodes -o name'
    argv = ["bash", "-c", script, "box/box", f"--name={box.layout.name}"]

    shown = subprocess.run(argv, capture_output=True, text=True, check=True).stdout.split()

    assert shown == ["node/w1", "node/w2", "node/w3"]
