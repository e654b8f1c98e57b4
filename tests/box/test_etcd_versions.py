"""Every minor version of etcd from 3.2 to 3.7 runs as three plain pods that answer and agree."""

from __future__ import annotations

import json
from typing import Any

import pytest

from box.image import images
from box.toolchain import tools
from tests.box.driving import Box, eventually
from tests.box.pods import wait_ready

Object = dict[str, Any]
MEMBERS = ("m1", "m2", "m3")


def member(name: str, namespace: str, image: str) -> Object:
    def url(of: str, port: int) -> str:
        return f"http://{of}.etcd.{namespace}.svc.cluster.local:{port}"

    command = [
        "/usr/local/bin/etcd",
        f"--name={name}",
        "--data-dir=/var/etcd/data",
        "--listen-client-urls=http://0.0.0.0:2379",
        f"--advertise-client-urls={url(name, 2379)}",
        "--listen-peer-urls=http://0.0.0.0:2380",
        f"--initial-advertise-peer-urls={url(name, 2380)}",
        "--initial-cluster=" + ",".join(f"{other}={url(other, 2380)}" for other in MEMBERS),
        "--initial-cluster-state=new",
    ]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, "labels": {"app": "etcd"}},
        "spec": {
            "hostname": name,
            "subdomain": "etcd",
            "nodeSelector": {"kubernetes.io/hostname": f"w{name[1:]}"},
            "terminationGracePeriodSeconds": 1,
            "containers": [
                {
                    "name": "etcd",
                    "image": image,
                    "imagePullPolicy": "IfNotPresent",
                    "command": command,
                    "env": [{"name": "ETCDCTL_API", "value": "3"}],
                    "readinessProbe": {"tcpSocket": {"port": 2379}, "periodSeconds": 1},
                    "volumeMounts": [{"name": "data", "mountPath": "/var/etcd"}],
                }
            ],
            "volumes": [{"name": "data", "emptyDir": {}}],
        },
    }


def headless(namespace: str) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "etcd", "namespace": namespace},
        "spec": {
            "clusterIP": "None",
            "publishNotReadyAddresses": True,
            "selector": {"app": "etcd"},
            "ports": [{"name": "peer", "port": 2380}],
        },
    }


@pytest.mark.parametrize("tool", images.ETCD_VERSIONS)
def test_three_members_answer_and_agree(box: Box, namespace: str, tool: str) -> None:
    version = tools.tool(tool).version
    image = f"quay.io/coreos/etcd:v{version}"
    box.apply(headless(namespace), *(member(name, namespace, image) for name in MEMBERS))
    wait_ready(box, namespace, *MEMBERS)

    def etcdctl(at: str, *words: str) -> str:
        return box.exec(namespace, at, "/usr/local/bin/etcdctl", *words)

    # Members of 3.2 take 5 to 40 s to find each other, newer ones a few.
    assert eventually(lambda: etcdctl("m1", "put", "key", f"from {version}")).strip() == "OK"
    for name in MEMBERS:
        assert etcdctl(name, "get", "key", "--print-value-only").strip() == f"from {version}"
    statuses = [json.loads(etcdctl(name, "endpoint", "status", "-w", "json"))[0]["Status"] for name in MEMBERS]
    assert {status["version"] for status in statuses} == {version}
    assert len({status["leader"] for status in statuses}) == 1
    assert len({status["header"]["cluster_id"] for status in statuses}) == 1


def test_the_versions_leave_no_minor_out() -> None:
    minors = {".".join(tools.tool(name).version.split(".")[:2]) for name in images.ETCD_VERSIONS}

    assert minors == {"3.2", "3.3", "3.4", "3.5", "3.6", "3.7"}
