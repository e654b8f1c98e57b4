"""`spec.pod`: what the pods of members get besides what the operator decides.

Types of Kubernetes itself stay plain mappings in Python: the operator copies them into pods and looks at nothing
inside. Their schema comes from the tables in `embedded_*`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec

from etcd_operator.api.embedded_pod import RESOURCES, SECRET_REFERENCE, SECURITY_CONTEXT, VARIABLE
from etcd_operator.api.embedded_scheduling import AFFINITY, SPREAD, TOLERATION
from etcd_operator.api.embedded_volume import CLAIM
from etcd_operator.api.field import Change, Field, Limits, Rule
from etcd_operator.api.stored import Part

KubernetesObject = Mapping[str, Any]

RESERVED_LABELS = Rule(
    "self.all(key, key != 'app' && !key.startsWith('etcd_'))",
    "spec.pod.labels must not have the key app nor one that begins with etcd_: by these the operator finds its pods",
)


class PodPolicy(Part, frozen=True):
    """What the pods of members get."""

    labels: Annotated[
        Mapping[str, str] | None,
        Field(
            text="Further labels for the pods of members. The keys app and etcd_* belong to the operator.",
            absent="none",
            change=Change.LIVE,
            limits=Limits(max_properties=64),
            rules=(RESERVED_LABELS,),
        ),
    ] = None
    annotations: Annotated[
        Mapping[str, str] | None,
        Field(
            text="Further annotations for the pods of members. Those that the operator sets itself win.",
            absent="none",
            change=Change.LIVE,
        ),
    ] = None
    node_selector: Annotated[
        Mapping[str, str] | None,
        Field(text="Labels that a node must have to run a member.", absent="any node", change=Change.ROLLS),
    ] = None
    affinity: Annotated[
        KubernetesObject | None,
        Field(
            text="Which nodes and pods members should be close to or apart from, as in any pod.",
            absent="members of a cluster run on different nodes where there are enough",
            change=Change.ROLLS,
            embedded=AFFINITY,
        ),
    ] = None
    anti_affinity: Annotated[
        bool,
        Field(
            text="Deprecated: demands that no two members share a node. Use affinity, which wins over this one.",
            change=Change.ROLLS,
        ),
    ] = False
    tolerations: Annotated[
        tuple[KubernetesObject, ...] | None,
        Field(
            text="Taints that members put up with, besides those of nodes that are not ready or cannot be reached.",
            absent="none",
            change=Change.ROLLS,
            embedded=TOLERATION,
        ),
    ] = None
    topology_spread_constraints: Annotated[
        tuple[KubernetesObject, ...] | None,
        Field(
            text="How evenly members are spread over hosts, zones or other places.",
            absent="left to affinity",
            change=Change.ROLLS,
            embedded=SPREAD,
        ),
    ] = None
    priority_class_name: Annotated[
        str,
        Field(
            text="The priority class of members, which decides who has to go on a full node.",
            absent="the namespace's default",
            change=Change.ROLLS,
        ),
    ] = ""
    service_account_name: Annotated[
        str,
        Field(
            text="The service account of members. Its token is not mounted, but its pull secrets and policies hold.",
            absent="the account named default",
            change=Change.ROLLS,
        ),
    ] = ""
    image_pull_secrets: Annotated[
        tuple[KubernetesObject, ...] | None,
        Field(
            text="Secrets for pulling the images of members from a private registry.",
            absent="those of the service account",
            change=Change.ROLLS,
            embedded=SECRET_REFERENCE,
            keys=("name",),
        ),
    ] = None
    resources: Annotated[
        KubernetesObject | None,
        Field(
            text="Processor time and memory for each container of a member, as in any pod.",
            absent="no requests and no limits",
            change=Change.ROLLS,
            embedded=RESOURCES,
        ),
    ] = None
    etcd_env: Annotated[
        tuple[KubernetesObject, ...] | None,
        Field(
            text="Environment variables for etcd: every flag can be given as ETCD_<FLAG>.",
            absent="none",
            change=Change.ROLLS,
            embedded=VARIABLE,
        ),
    ] = None
    persistent_volume_claim_spec: Annotated[
        KubernetesObject | None,
        Field(
            text="The volume that each member gets for its data, as a claim's spec.",
            absent="none, so that a member loses its data with its pod",
            change=Change.VOLUMES,
            embedded=CLAIM,
        ),
    ] = None
    security_context: Annotated[
        KubernetesObject | None,
        Field(
            text="User, group and other security settings of a member's pod, as in any pod.",
            absent="as restricted as the images allow",
            change=Change.ROLLS,
            embedded=SECURITY_CONTEXT,
        ),
    ] = None
    termination_grace_period_seconds: Annotated[
        int | None,
        Field(
            text="How long a member may take to stop, in seconds.",
            absent="30, as Kubernetes has it",
            change=Change.ROLLS,
            limits=Limits(minimum=0),
        ),
    ] = None
    busybox_image: Annotated[
        str,
        Field(
            text="Image of the first init container, which waits for the member's DNS name.",
            absent="the operator's own choice",
            change=Change.ROLLS,
        ),
    ] = ""
    dns_timeout_in_second: Annotated[
        int,
        Field(
            text="How long a starting member waits for its DNS name, in seconds; 0 means for ever.",
            change=Change.ROLLS,
            limits=Limits(minimum=0),
        ),
    ] = msgspec.field(name="DNSTimeoutInSecond", default=0)
    cluster_domain: Annotated[
        str,
        Field(
            text="The end of members' host names, with a leading dot, such as .cluster.local.",
            absent="names end in .svc",
            change=Change.JOINERS,
            limits=Limits(max_length=253),
            rules=(
                Rule(
                    "self == '' || self.startsWith('.')",
                    "spec.pod.ClusterDomain must begin with a dot, as in .cluster.local: it is put right behind .svc",
                ),
            ),
        ),
    ] = msgspec.field(name="ClusterDomain", default="")
