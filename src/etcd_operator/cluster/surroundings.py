"""The services and the disruption budget of a cluster: whether they are there as they should be, and whose they are.

They have names that users chose by naming their cluster, so somebody else's object may have one of them. That is never
touched. What is ours carries a digest of what was applied: if it differs from what the builders make today, the object
is applied again. What others added to it, such as annotations for a load balancer, stays.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass

from etcd_operator.api.cluster import EtcdCluster
from etcd_operator.api.names import GROUP
from etcd_operator.cluster.caches import Caches
from etcd_operator.cluster.disruption import disruption_budget
from etcd_operator.cluster.launch import wants_claim
from etcd_operator.cluster.services import client_service, peer_service
from etcd_operator.kube.informer import Informer
from etcd_operator.kube.objects import Manifest, Metadata, PartialObject
from etcd_operator.kube.resources import POD_DISRUPTION_BUDGETS, SERVICES, Resource
from etcd_operator.kube.store import Key, Named, owner_uids
from etcd_operator.plan.refusal import Refusal
from etcd_operator.plan.view import Body

APPLIED = f"{GROUP}/applied"  # annotation: digest of the manifest that was applied
DIGITS = 16


@dataclass(frozen=True)
class Fitting:
    """One of the objects, as it should be."""

    resource: Resource
    manifest: Manifest

    @property
    def name(self) -> str:
        return str(self.manifest["metadata"]["name"])

    @property
    def digest(self) -> str:
        return str(self.manifest["metadata"]["annotations"][APPLIED])

    def __str__(self) -> str:
        return f"{self.resource.kind} {self.name}"


def services(cluster: EtcdCluster) -> tuple[Fitting, ...]:
    made = (peer_service(cluster), client_service(cluster))
    return tuple(Fitting(SERVICES, with_digest(manifest)) for manifest in made)


def budget(cluster: EtcdCluster, *, voters: int, bodies: Mapping[str, Body]) -> Fitting:
    on_claims = all(body.on_claim for body in bodies.values()) if bodies else wants_claim(cluster)
    manifest = disruption_budget(cluster, voters=voters, on_claims=on_claims)
    return Fitting(POD_DISRUPTION_BUDGETS, with_digest(manifest))


def with_digest(manifest: Manifest) -> Manifest:
    text = json.dumps(manifest, sort_keys=True, separators=(",", ":"))
    digest = hashlib.sha256(text.encode()).hexdigest()[:DIGITS]
    metadata = manifest["metadata"]
    annotations = {**metadata.get("annotations", {}), APPLIED: digest}
    return {**manifest, "metadata": {**metadata, "annotations": annotations}}


def cache_of(caches: Caches, fitting: Fitting) -> Informer[PartialObject]:
    return caches.services if fitting.resource is SERVICES else caches.budgets


def cached(caches: Caches, fitting: Fitting, *, namespace: str) -> PartialObject | None:
    """None also for what lacks our label: the caches do not hold it."""
    return cache_of(caches, fitting).store.get(Key(namespace, fitting.name))


def fits(found: Named | None, fitting: Fitting, *, uid: str) -> bool:
    return found is not None and is_ours(found, uid) and found.metadata.annotations.get(APPLIED) == fitting.digest


def is_ours(found: Named, uid: str) -> bool:
    return uid in owner_uids(found)


def taken(found: Named, fitting: Fitting) -> Refusal:
    """Where the name is another's."""
    namespace, kind = found.metadata.namespace, fitting.resource.kind
    owner = next((f"{each.kind} {each.name}" for each in found.metadata.owner_references), "somebody else")
    return Refusal(
        "NameTaken",
        f"{kind} {fitting.name} is there already and belongs to {owner}; it is not touched, and the cluster needs that "
        f"name. Delete it (kubectl delete {kind.lower()} {fitting.name} -n {namespace}), or give the cluster another "
        f"name.",
    )


def misled(pod: Metadata) -> Refusal:
    """Where a pod of somebody else has the labels by which clients are led to members."""
    name, namespace, cluster = pod.name, pod.namespace, pod.labels.get("etcd_cluster")
    return Refusal(
        "PodsTaken",
        f"Pod {name} has the labels app=etcd and etcd_cluster={cluster} and belongs to another cluster or to none; "
        f"the services of this one would lead clients to it, so no first member is started. If its data is not needed, "
        f"delete it (kubectl delete pod {name} -n {namespace}), or give the cluster another name.",
    )
