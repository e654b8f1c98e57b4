"""A cluster as the archived operator left it: the pods of its last release, letter by letter, on an image with a shell.

They differ from ours in what matters for a take-over: they never restart, their probes need a shell, their disks are
empty directories, and nothing but their labels and owner says whose they are.
"""

from __future__ import annotations

import uuid
from pathlib import Path

from box.image import images
from box.image.archive import Settings, write_archive
from box.progress import Say
from tests.box.cluster.versions import V32, V33
from tests.box.driving import Box, Object

REPOSITORY = "registry.example/coreos/etcd"
BUSYBOX = "busybox:1.28.0-glibc"
CHECK = "ETCDCTL_API=3 etcdctl endpoint status"


def load_images(box: Box, folder: Path) -> None:
    """The images of 3.2 and 3.3 as they were then: with a shell."""
    silent: Say = lambda _: None  # noqa: E731
    recipes = {recipe.key: recipe for recipe in images.RECIPES}
    for version in (V32, V33):
        series = version.rpartition(".")[0]
        layers = [*recipes["busybox"].layers(box.layout, silent), *recipes[f"etcd-{series}"].layers(box.layout, silent)]
        archive = folder / f"{version}.tar"
        settings = Settings(command=("/usr/local/bin/etcd",))
        write_archive(archive, names=[f"{REPOSITORY}:v{version}"], layers=layers, settings=settings)
        box("image", "load", str(archive))
        archive.unlink()


def owner(cluster: Object) -> Object:
    return {
        "apiVersion": "etcd.database.coreos.com/v1beta2",
        "kind": "EtcdCluster",
        "name": cluster["metadata"]["name"],
        "uid": cluster["metadata"]["uid"],
        "controller": True,
    }


def services(cluster: Object) -> list[Object]:
    name, namespace = cluster["metadata"]["name"], cluster["metadata"]["namespace"]
    labels = {"app": "etcd", "etcd_cluster": name}
    client, peer = (
        {"name": "client", "port": 2379, "targetPort": 2379, "protocol": "TCP"},
        {"name": "peer", "port": 2380, "targetPort": 2380, "protocol": "TCP"},
    )

    def service(of: str, tolerate: str, **spec: object) -> Object:
        annotations = {"service.alpha.kubernetes.io/tolerate-unready-endpoints": tolerate}
        metadata = {"name": of, "namespace": namespace, "labels": labels, "annotations": annotations}
        metadata["ownerReferences"] = [owner(cluster)]
        return {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": {"selector": labels, **spec}}

    return [
        service(f"{name}-client", "false", ports=[client], type="ClusterIP"),
        # Kubernetes heeded the annotation then; today the field must say it, or the old pods find no names.
        service(name, "true", ports=[client, peer], clusterIP="None", publishNotReadyAddresses=True),
    ]


def pod(cluster: Object, member: str, *, members: list[str], seed: bool) -> Object:
    name, namespace = cluster["metadata"]["name"], cluster["metadata"]["namespace"]

    def host(of: str) -> str:
        return f"{of}.{name}.{namespace}.svc"

    command = (
        f"/usr/local/bin/etcd --data-dir=/var/etcd/data --name={member} "
        f"--initial-advertise-peer-urls=http://{host(member)}:2380 "
        "--listen-peer-urls=http://0.0.0.0:2380 --listen-client-urls=http://0.0.0.0:2379 "
        f"--advertise-client-urls=http://{host(member)}:2379 "
        f"--initial-cluster={','.join(f'{each}=http://{host(each)}:2380' for each in members)} "
        f"--initial-cluster-state={'new' if seed else 'existing'}"
    )
    if seed:
        command += f" --initial-cluster-token={uuid.uuid4()}"
    # The lookup of today's busybox needs the whole name, which that of 1.28 found by itself.
    lookup = f"TIMEOUT_READY=0; while ( ! nslookup {host(member)}.cluster.local ); do sleep 1; done"
    probe = {"exec": {"command": ["/bin/sh", "-ec", CHECK]}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": member,
            "namespace": namespace,
            "labels": {"app": "etcd", "etcd_node": member, "etcd_cluster": name},
            "annotations": {"etcd.version": V32},
            "ownerReferences": [owner(cluster)],
        },
        "spec": {
            "hostname": member,
            "subdomain": name,
            "restartPolicy": "Never",
            "automountServiceAccountToken": False,
            "initContainers": [
                {
                    "name": "check-dns",
                    "image": BUSYBOX,
                    "imagePullPolicy": "IfNotPresent",
                    "command": ["/bin/sh", "-c", lookup],
                }
            ],
            "containers": [
                {
                    "name": "etcd",
                    "image": f"{REPOSITORY}:v{V32}",
                    "command": command.split(" "),
                    "ports": [
                        {"name": "server", "containerPort": 2380, "protocol": "TCP"},
                        {"name": "client", "containerPort": 2379, "protocol": "TCP"},
                    ],
                    "volumeMounts": [{"name": "etcd-data", "mountPath": "/var/etcd"}],
                    "livenessProbe": {
                        **probe,
                        "initialDelaySeconds": 10,
                        "timeoutSeconds": 10,
                        "periodSeconds": 60,
                        "failureThreshold": 3,
                    },
                    "readinessProbe": {
                        **probe,
                        "initialDelaySeconds": 1,
                        "timeoutSeconds": 5,
                        "periodSeconds": 5,
                        "failureThreshold": 3,
                    },
                }
            ],
            "volumes": [{"name": "etcd-data", "emptyDir": {}}],
        },
    }
