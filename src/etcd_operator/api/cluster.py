"""EtcdCluster: what a user wants of a cluster, and what the operator says of it."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, ClassVar, Literal

import msgspec

from etcd_operator.api.condition import Condition
from etcd_operator.api.field import Change, Field, Limits, Rule
from etcd_operator.api.pod_policy import PodPolicy
from etcd_operator.api.stored import Metadata, Part
from etcd_operator.api.tls import TlsPolicy

RELEASED_VERSION = Rule(
    "self == '' || self.matches('^v*[0-9]+[.][0-9]+[.][0-9]+$')",
    "spec.version must be a released version of etcd, three numbers such as 3.5.21; no latest, no pre-release",
)


class ClusterSpec(Part, frozen=True):
    """What is wanted of an etcd cluster."""

    size: Annotated[
        int,
        Field(
            text="How many members the cluster has. "
            "3 survive the loss of one member, 5 that of two; an even number adds no safety.",
            change=Change.LIVE,
            limits=Limits(minimum=1, maximum=7),
        ),
    ]
    version: Annotated[
        str,
        Field(
            text="The version of etcd, such as 3.5.21 or v3.5.21. "
            "The tag of the image has one v in front of it, however many are written here.",
            absent="chosen by the operator once, when the cluster is created, and recorded in status.resolvedVersion",
            change=Change.ROLLS,
            limits=Limits(max_length=64),
            rules=(RELEASED_VERSION,),
        ),
    ] = ""
    repository: Annotated[
        str,
        Field(
            text="The image of etcd, with its registry and without a tag.",
            absent="the public image of the etcd project, or what the operator was started with",
            change=Change.ROLLS,
        ),
    ] = ""
    paused: Annotated[
        bool,
        Field(text="Whether the operator leaves this cluster alone. Members go on serving.", change=Change.LIVE),
    ] = False
    pod: Annotated[
        PodPolicy | None,
        Field(
            text="What the pods of members get: place, resources, volume and variables.",
            absent="what is said at each field inside",
            change=Change.INSIDE,
        ),
    ] = None
    tls: Annotated[
        TlsPolicy | None,
        Field(
            text="How members, clients and the operator prove who they are. "
            "TLS can be switched neither on nor off once the cluster runs; an empty object or name means none.",
            absent="no TLS",
            change=Change.INSIDE,
        ),
    ] = msgspec.field(name="TLS", default=None)
    auth_secret: Annotated[
        str,
        Field(
            text="Secret with the etcd user the operator works as, where etcd's authentication is on. "
            "Its keys are username and password; the user needs the role root.",
            absent="the operator works without a user",
            change=Change.LIVE,
            limits=Limits(max_length=253),
        ),
    ] = ""
    deletion_policy: Annotated[
        Literal["Delete", "Retain"],
        Field(
            text="What becomes of members' volumes when this object is deleted. Retain keeps them, without an owner.",
            change=Change.LIVE,
        ),
    ] = "Delete"


class MemberNames(Part, frozen=True):
    """The members, by whether they serve."""

    ready: Annotated[tuple[str, ...] | None, Field(text="Names of the members that serve.")] = None
    unready: Annotated[tuple[str, ...] | None, Field(text="Names of the members that do not serve.")] = None


class LastBackup(Part, frozen=True):
    """The newest good backup of the cluster."""

    time: Annotated[datetime | None, Field(text="When the newest good backup was taken.")] = None
    name: Annotated[str | None, Field(text="The EtcdBackup that took it.")] = None


class MemberStatus(Part, frozen=True):
    """One member, as etcd and Kubernetes show it."""

    name: Annotated[str, Field(text="Name of the member, of its pod and of its volume claim.")]
    member_id: Annotated[str | None, Field(text="The ID that etcd gave the member, in hexadecimal.")] = msgspec.field(
        name="memberID", default=None
    )
    role: Annotated[str | None, Field(text="Leader, Voter, Learner, or Joining while etcd does not list it yet.")] = (
        None
    )
    ready: Annotated[bool | None, Field(text="Whether the member answers and serves clients.")] = None
    version: Annotated[str | None, Field(text="The version of etcd it runs.")] = None
    node: Annotated[str | None, Field(text="The node its pod is on.")] = None
    silent_since: Annotated[datetime | None, Field(text="Since when it has not answered the operator.")] = None
    message: Annotated[str | None, Field(text="What keeps it from serving, if something does.")] = None


class Operation(Part, frozen=True):
    """What the operator is doing with the cluster; kept here so that a restarted operator goes on with it."""

    name: Annotated[str, Field(text="Bootstrap, ScaleUp, ScaleDown, Replace, Roll or Upgrade.")] = ""
    since: Annotated[datetime | None, Field(text="When it began.")] = None
    step: Annotated[str | None, Field(text="The step it is at.")] = None
    members: Annotated[
        tuple[str, ...] | None, Field(text="The members that are being started, or started anew in another form.")
    ] = None
    victim: Annotated[str | None, Field(text="The member that is being removed.")] = None
    victim_id: Annotated[str | None, Field(text="Its ID in etcd, in hexadecimal.")] = msgspec.field(
        name="victimID", default=None
    )
    version: Annotated[str | None, Field(text="The version that members are being moved to.")] = None
    attempt: Annotated[int | None, Field(text="How often the first member has been tried anew.")] = None


class ClusterStatus(Part, frozen=True):
    """What the operator sees of a cluster."""

    observed_generation: Annotated[int | None, Field(text="The generation of the spec this status is about.")] = None
    phase: Annotated[str | None, Field(text="Creating, Running or Failed; conditions tell more.")] = None
    reason: Annotated[str | None, Field(text="Why the phase is Failed.")] = None
    conditions: Annotated[
        tuple[Condition, ...] | None,
        Field(text="What is so and what is not; start with Ready.", keys=("type",)),
    ] = None
    control_paused: Annotated[bool | None, Field(text="Whether the operator leaves the cluster alone now.")] = None
    size: Annotated[int | None, Field(text="How many members etcd has now.")] = None
    members_ready: Annotated[
        str | None, Field(text="How many of the members wanted serve, such as 3/3; for display only.")
    ] = None
    members: Annotated[MemberNames | None, Field(text="The members by name.")] = None
    member_list: Annotated[
        tuple[MemberStatus, ...] | None,
        Field(text="Each member with its ID, role, version and node.", keys=("name",)),
    ] = None
    operation: Annotated[Operation | None, Field(text="The operation under way, if there is one.")] = None
    discarded: Annotated[
        tuple[str, ...] | None,
        Field(
            text="Members that the operator removes or has removed for good. "
            "Their volume claims are deleted once all other members are well."
        ),
    ] = None
    last_given_up: Annotated[
        datetime | None,
        Field(text="When a member was last given up for its silence alone; the next one is not for a while."),
    ] = None
    leader: Annotated[str | None, Field(text="Name of the member that leads.")] = None
    cluster_id: Annotated[
        str | None,
        Field(
            text="The ID that etcd gave the cluster, in hexadecimal. Once it is there, the cluster has begun to live."
        ),
    ] = msgspec.field(name="clusterID", default=None)
    resolved_version: Annotated[
        str | None, Field(text="The version that was chosen because spec.version names none.")
    ] = None
    failed_version: Annotated[
        str | None, Field(text="A version that a member could not be started with; it is not tried again.")
    ] = None
    current_version: Annotated[str | None, Field(text="The version that all members run.")] = None
    target_version: Annotated[str | None, Field(text="The version that members are being moved to.")] = None
    service_name: Annotated[str | None, Field(text="Name of the service for clients.")] = None
    client_port: Annotated[int | None, Field(text="Port of the service for clients.")] = None
    endpoint: Annotated[str | None, Field(text="The URL under which clients reach the cluster.")] = None
    selector: Annotated[str | None, Field(text="The label selector that finds the pods of members.")] = None
    db_size: Annotated[
        str | None, Field(text="Size of the largest member's database, rounded, such as 24Mi; for display only.")
    ] = None
    certificates_expire: Annotated[
        datetime | None, Field(text="When the first of the cluster's certificates expires.")
    ] = None
    last_backup: Annotated[LastBackup | None, Field(text="The newest good backup.")] = None


def _switched(path: str, what: str) -> Rule:
    """Compares specs, so it cannot fail when a status is written; a rule of the spec could not see what has begun."""
    began = "(oldSelf.?status.?clusterID.orValue('') != '' || oldSelf.?status.?phase.orValue('') == 'Running')"
    now, before = (f"{side}.?spec.?TLS.?static.{path}.orValue('') == ''" for side in ("self", "oldSelf"))
    return Rule(
        f"!{began} || ({now}) == ({before})",
        f"{what} cannot be switched on or off once the cluster runs: members would no longer understand each other "
        "or their clients; restore a backup into a new cluster instead",
        field_path=".spec.TLS",
    )


class EtcdCluster(msgspec.Struct, frozen=True, kw_only=True):
    """An etcd cluster: as many members as wanted, of one version, kept alive."""

    RULES: ClassVar = (
        _switched("?operatorSecret", "spec.TLS: TLS for clients"),
        _switched("?member.?peerSecret", "spec.TLS: TLS between members"),
    )

    metadata: Metadata
    spec: Annotated[ClusterSpec, Field(text="What is wanted of the cluster.")]
    status: Annotated[ClusterStatus, Field(text="What the operator sees of the cluster.")] = ClusterStatus()
