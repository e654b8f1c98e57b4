"""The claims of members, and the pods that bring images to their nodes, as far as decisions need them."""

from __future__ import annotations

from etcd_operator.cluster.bodies import trouble_of
from etcd_operator.cluster.identity import identity_in
from etcd_operator.kube.projections import Claim, Pod
from etcd_operator.kube.store import owner_uids
from etcd_operator.plan.view import Disk, Pull


def disk_of(claim: Claim, *, cluster_uid: str) -> Disk:
    return Disk(
        name=claim.metadata.name,
        uid=claim.metadata.uid,
        identity=identity_in(claim.metadata.annotations),
        deleting=claim.metadata.deletion_timestamp is not None,
        lost=claim.status.phase == "Lost",
        owned=cluster_uid in owner_uids(claim),
        requested=claim.spec.resources.requests.storage,
    )


def pull_of(pod: Pod) -> Pull:
    return Pull(
        uid=pod.metadata.uid,
        image=next((container.image for container in pod.spec.containers), ""),
        node=pod.spec.node_name,
        done=pod.status.phase == "Succeeded",
        deleting=pod.metadata.deletion_timestamp is not None,
        trouble="" if pod.status.phase == "Succeeded" else trouble_of(pod),
    )
