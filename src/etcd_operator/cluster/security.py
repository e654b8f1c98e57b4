"""Who the containers of a member run as.

By default everything that the `restricted` profile of Kubernetes asks for, as a user that owns nothing else. etcd's
images name no user and would run as root, but need nothing of root's: the volume is given to a group. It is given once,
when its root does not have that group yet, and not at every mount: that would also open etcd's data directory to the
group, about which etcd complains, and takes long on a large volume.

`spec.pod.securityContext` takes the place of all this, whole, as it always did. Then etcd runs as whom that context or
its image says. The guard must be able to read what etcd wrote, so where the context leaves the user to the image and
does not exclude root, the guard is root: its own image would make it somebody else. On a platform that gives each
namespace a user of its own, `runAsNonRoot: true` alone leaves the choice to the platform, for both.
"""

from __future__ import annotations

from typing import Any

from etcd_operator.api.cluster import EtcdCluster
from etcd_operator.api.pod_policy import PodPolicy
from etcd_operator.kube.objects import Manifest

USER = 65532  # that of the operator's image, which bases without a shell call nonroot


def pod_security(cluster: EtcdCluster) -> Manifest:
    given = _given(cluster)
    if given is not None:
        return given
    return {
        "runAsNonRoot": True,
        "runAsUser": USER,
        "runAsGroup": USER,
        "fsGroup": USER,
        "fsGroupChangePolicy": "OnRootMismatch",
        "seccompProfile": {"type": "RuntimeDefault"},
    }


def account(cluster: EtcdCluster) -> Manifest:
    """In whose name Kubernetes lets the pod in and pulls its images; its token is for nobody."""
    policy = cluster.spec.pod or PodPolicy()
    wanted: dict[str, Any] = {
        "serviceAccountName": policy.service_account_name,
        "imagePullSecrets": [dict(secret) for secret in policy.image_pull_secrets or ()],
    }
    return {"automountServiceAccountToken": False, **{name: value for name, value in wanted.items() if value}}


def container_security(cluster: EtcdCluster) -> Manifest:
    """Root keeps its capabilities: without them it could not even write to a volume that somebody else owns."""
    dropped = {} if _may_be_root(cluster) else {"capabilities": {"drop": ["ALL"]}}
    return {"allowPrivilegeEscalation": False, **dropped}


def guard_security(cluster: EtcdCluster) -> Manifest:
    context = pod_security(cluster)
    left_to_image = context.get("runAsUser") is None and not context.get("runAsNonRoot")
    return {
        **container_security(cluster),
        "readOnlyRootFilesystem": True,
        **({"runAsUser": 0} if left_to_image else {}),
    }


def _given(cluster: EtcdCluster) -> Manifest | None:
    policy = cluster.spec.pod
    return dict(policy.security_context) if policy and policy.security_context is not None else None


def _may_be_root(cluster: EtcdCluster) -> bool:
    context = pod_security(cluster)
    return not context.get("runAsNonRoot") and not context.get("runAsUser")
