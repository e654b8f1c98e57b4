"""A claim is bound where its pod runs, keeps its data, grows, fills up, and goes with its claim."""

from __future__ import annotations

from typing import Any

import pytest

from tests.box.driving import Box, CommandFailedError, eventually
from tests.box.pods import pod, wait_ready

Object = dict[str, Any]


def claim(name: str, namespace: str, *, size: str, storage_class: str = "") -> Object:
    spec: Object = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}}
    if storage_class:
        spec["storageClassName"] = storage_class
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": namespace},
        "spec": spec,
    }


def user_of(name: str, namespace: str, *, of: str) -> Object:
    return pod(
        name,
        namespace,
        command=["sleep", "10000"],
        mounts=[{"name": "data", "mountPath": "/data"}],
        volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": of}}],
        securityContext={"runAsUser": 1000, "fsGroup": 1000},
    )


def ask_for(box: Box, namespace: str, name: str, size: str) -> None:
    patch = f'{{"spec": {{"resources": {{"requests": {{"storage": "{size}"}}}}}}}}'
    box.kubectl("patch", "pvc", name, "-n", namespace, "-p", patch)


def capacity(box: Box, namespace: str, name: str) -> str:
    return str(box.get("pvc", name, namespace)["status"]["capacity"]["storage"])


@pytest.mark.parametrize("storage_class", ["", "box-sized"])
def test_a_claim_lives_from_its_first_pod_to_its_deletion(box: Box, namespace: str, storage_class: str) -> None:
    box.apply(claim("data", namespace, size="64Mi", storage_class=storage_class))
    assert box.get("pvc", "data", namespace)["status"]["phase"] == "Pending", "it must wait for its first pod"

    box.apply(user_of("first", namespace, of="data"))
    wait_ready(box, namespace, "first")
    node = box.get("pod", "first", namespace)["spec"]["nodeName"]
    volume = box.get("pvc", "data", namespace)["spec"]["volumeName"]
    box.exec(namespace, "first", "sh", "-c", "echo kept > /data/file")

    box.kubectl("delete", "pod", "first", "-n", namespace)
    box.apply(user_of("second", namespace, of="data"))
    wait_ready(box, namespace, "second")
    assert box.get("pod", "second", namespace)["spec"]["nodeName"] == node, "the data is on that node"
    assert box.exec(namespace, "second", "cat", "/data/file").strip() == "kept"

    ask_for(box, namespace, "data", "128Mi")
    assert eventually(lambda: capacity(box, namespace, "data") == "128Mi", within=30)

    box.kubectl("delete", "pod", "second", "-n", namespace)
    box.kubectl("delete", "pvc", "data", "-n", namespace)
    eventually(lambda: volume not in box.kubectl("get", "pv", "-o", "name"), within=30)
    left = box("node", "run", node, "--", "ls", "/var/box/volumes")
    assert volume not in left


def test_a_sized_volume_is_full_when_it_is_full_and_has_room_again_when_it_grew(box: Box, namespace: str) -> None:
    box.apply(claim("disk", namespace, size="64Mi", storage_class="box-sized"), user_of("writer", namespace, of="disk"))
    wait_ready(box, namespace, "writer")
    write = ("dd", "if=/dev/zero", "bs=1M")

    box.exec(namespace, "writer", *write, "of=/data/a", "count=30")
    with pytest.raises(CommandFailedError, match="No space left on device"):
        box.exec(namespace, "writer", *write, "of=/data/b", "count=60")

    ask_for(box, namespace, "disk", "200Mi")
    eventually(lambda: capacity(box, namespace, "disk") == "200Mi", within=30)
    box.exec(namespace, "writer", *write, "of=/data/b", "count=60")


def test_a_claim_that_cannot_be_served_says_why(box: Box, namespace: str) -> None:
    box.apply(claim("tiny", namespace, size="1Ki", storage_class="box-sized"), user_of("waiting", namespace, of="tiny"))

    def complaint() -> str:
        return box.kubectl("get", "events", "-n", namespace, "--field-selector=reason=ProvisioningFailed", "-o", "yaml")

    assert "16Mi" in eventually(lambda: text if "16Mi" in (text := complaint()) else "", within=30)
