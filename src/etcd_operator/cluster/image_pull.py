"""A pod that only brings an image to a node, before the member there is stopped to run it.

The kubelet stops a container first and pulls its new image after: a member would be away for as long as that takes, or
for ever where the image does not exist. This pod runs `etcd --version`, which every etcd image can, and ends.

It carries none of the labels by which members are found, counted and kept apart, and asks for no resources, so it fits
on a full node. It goes to its node without the scheduler, past whatever keeps others away: the member is there already.
"""

from __future__ import annotations

from etcd_operator.api.cluster import EtcdCluster
from etcd_operator.api.cluster_names import CLUSTER_UID
from etcd_operator.cluster.command import BINARY
from etcd_operator.cluster.metadata import owned
from etcd_operator.cluster.security import account, container_security, pod_security
from etcd_operator.kube.objects import Manifest

IMAGE_PULL = "etcd-image-pull"  # label
_END = "-pull"


def image_pull_name(member: str) -> str:
    return f"{member}{_END}"


def member_of(pull: str) -> str:
    """For whose node the image is."""
    return pull.removesuffix(_END)


def image_pull(cluster: EtcdCluster, *, member: str, node: str, image: str) -> Manifest:
    labels = {"app": IMAGE_PULL, CLUSTER_UID: cluster.metadata.uid}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": owned(cluster, name=image_pull_name(member), labels=labels),
        "spec": {
            "nodeName": node,
            "restartPolicy": "Never",
            "enableServiceLinks": False,
            "terminationGracePeriodSeconds": 1,
            "tolerations": [{"operator": "Exists"}],
            "securityContext": pod_security(cluster),
            **account(cluster),
            "containers": [
                {
                    "name": "etcd",
                    "image": image,
                    "command": [BINARY, "--version"],
                    "securityContext": container_security(cluster),
                }
            ],
        },
    }
