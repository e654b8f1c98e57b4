"""What can be done with a cluster, as values: one step is taken per turn, and any number of chores before it.

A step touches the membership, or starts or stops a process. A chore is written to Kubernetes only, can be repeated at
will and disturbs nobody. The names of steps stand in logs, events and tests; `event` is the reason under which a step
that was taken is told to the user, and no event is posted where it is empty.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from etcd_operator.plan.view import Identity
from etcd_operator.releases.version import Version

Urls = Mapping[str, frozenset[str]]  # peer URLs by member


@dataclass(frozen=True)
class Step:
    event: ClassVar[str] = ""

    @property
    def name(self) -> str:
        return type(self).__name__


@dataclass(frozen=True)
class Wait(Step):
    """Nothing now. `seconds` is when to look again, if nothing happens before."""

    seconds: float


@dataclass(frozen=True, kw_only=True)
class Start:
    """A pod to be created, with its claim if there is to be one."""

    member: str
    version: Version
    peers: Urls  # its --initial-cluster, itself included
    attempt: int = 0  # of a seed: which try this is
    seed: bool = False
    identity: Identity | None = None  # of a member that has run before
    on_claim: bool = False


@dataclass(frozen=True)
class StartMembers(Step):
    """Create pods. Those of joiners wait in their guards until etcd lists them."""

    event = "MemberStarting"
    starts: tuple[Start, ...]


@dataclass(frozen=True)
class ReturnMember(Step):
    """Create the pod of a member that has its disk and lost its pod."""

    event = "MemberReturning"
    start: Start


@dataclass(frozen=True, kw_only=True)
class AddMember(Step):
    """Enter a member into etcd's list, as a learner where the version knows them."""

    event = "MemberAdded"
    member: str
    peer_url: str
    learner: bool


@dataclass(frozen=True)
class PromoteLearner(Step):
    """Turn a caught-up learner into a voter."""

    event = "LearnerPromoted"
    member: str
    id: int


@dataclass(frozen=True)
class RemoveMember(Step):
    """Strike a member from etcd's list: for good, whatever its process believes."""

    event = "MemberRemoved"
    member: str
    id: int


@dataclass(frozen=True)
class DeletePod(Step):
    """Of something that is no member, or that comes back on its disk."""

    event = "PodDeleted"
    member: str
    uid: str


@dataclass(frozen=True)
class DeleteClaim(Step):
    """Of a member that was removed on purpose."""

    event = "ClaimDeleted"
    member: str
    uid: str


@dataclass(frozen=True, kw_only=True)
class MoveLeader(Step):
    """Hand leadership over before the leader is stopped, so that no election is needed."""

    event = "LeaderMoved"
    origin: str
    to: str
    to_id: int


@dataclass(frozen=True, kw_only=True)
class PullImage(Step):
    """Bring an image to a member's node, before the member is stopped to run it."""

    member: str
    node: str
    image: str


@dataclass(frozen=True, kw_only=True)
class DropPull(Step):
    """Delete the pod that brought an image."""

    member: str
    uid: str


@dataclass(frozen=True, kw_only=True)
class ChangeImage(Step):
    """Run another image in the same pod, on the same disk."""

    event = "MemberUpgrading"
    member: str
    uid: str
    version: Version
    image: str


@dataclass(frozen=True)
class SaveRaftSnapshots(Step):
    """Make every member save a raft snapshot, by ten thousand entries that change nothing."""

    event = "RaftSnapshotsSaved"


@dataclass(frozen=True)
class Chore:
    @property
    def name(self) -> str:
        return type(self).__name__


@dataclass(frozen=True)
class EnsureSurroundings(Chore):
    """Services and disruption budget, as they should be."""

    voters: int


@dataclass(frozen=True)
class RecordBirth(Chore):
    """Note on the object itself that its cluster lives: a status can be wiped, and no second seed may follow."""

    cluster_id: int


@dataclass(frozen=True)
class RecordIdentity(Chore):
    """Note on pod and claim who the member is; `policy` too, on a pod that has none."""

    member: str
    pod_uid: str
    claim_uid: str  # empty: it has none, or the claim knows already
    identity: Identity
    policy: str = ""


@dataclass(frozen=True)
class OpenGate(Chore):
    """Let clients be sent to a member, or not."""

    member: str
    uid: str
    open: bool


@dataclass(frozen=True)
class DressPod(Chore):
    """Labels and annotations as the user wants them now."""

    member: str
    uid: str


@dataclass(frozen=True)
class ExpandClaim(Chore):
    member: str
    uid: str
    storage: str


@dataclass(frozen=True)
class OwnClaim(Chore):
    """Let a claim go down with its cluster, or outlive it."""

    member: str
    uid: str
    owned: bool
