"""Everything that is known of a cluster at one moment, as one frozen value: what a decision is made of, and all of it.

Three sources are kept apart, because they fail apart: etcd's own list says who is a member (`roster`), Kubernetes says
which pods and disks there are (`bodies`, `disks`), and each member says how it is when asked (`answers`). A member is
followed through all three by its name, which is never used twice.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from etcd_operator.api.cluster import EtcdCluster
from etcd_operator.plan.refusal import Refusal
from etcd_operator.releases.version import Version


@dataclass(frozen=True)
class Identity:
    """Who etcd says a member is, since its first answer."""

    cluster_id: int
    member_id: int


class Stage(enum.IntEnum):
    """How far the pod of a member has come."""

    PENDING = 0  # has no node
    PREPARING = 1  # has a node; volumes and images are being fetched, or the name is looked up
    GUARDED = 2  # the guard runs, and waits if it must
    STARTED = 3  # etcd has been started at least once
    ENDED = 4  # will not run again


@dataclass(frozen=True, kw_only=True)
class Body:
    """The pod of a member."""

    name: str
    uid: str
    stage: Stage
    node: str = ""
    address: str = ""
    image: str = ""
    version: Version | None = None  # what its image is meant to be
    policy: str | None = None  # fingerprint of what the user had asked; None on a pod of the old operator
    identity: Identity | None = None
    joins: frozenset[str] = frozenset()  # names in its --initial-cluster; empty where it is not known
    on_claim: bool = False
    restarts_itself: bool = True  # restartPolicy Always; the old operator's pods do not
    gated: bool = True  # has the readiness gate
    running: bool = False  # etcd's container runs now
    running_since: datetime | None = None
    restarting: bool = False  # runs still what it ran before its image was changed
    ready: bool = False
    serving: bool = False  # the gate is open
    undressed: bool = False  # lacks labels or annotations of the user, or has some that he took back
    deleting: bool = False
    verdict: Refusal | None = None  # why the guard does not let etcd start
    trouble: str = ""  # what keeps it from getting on, in Kubernetes' words
    restarts: int = 0
    created: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class Disk:
    """The claim of a member."""

    name: str
    uid: str
    identity: Identity | None = None
    deleting: bool = False
    lost: bool = False  # its volume is gone
    owned: bool = True
    requested: str = ""  # as it stands in the claim


@dataclass(frozen=True, kw_only=True)
class Listed:
    """A member in etcd's own list."""

    id: int
    name: str  # from its peer URL; etcd's own field is empty before the first start
    peer_urls: frozenset[str]
    learner: bool = False
    started: bool = True  # has told the others its name, so it has run once
    ours: bool = True  # its peer URL is of the cluster's own domain


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a member has just said of itself."""

    identity: Identity
    version: Version
    leader: int  # 0: it knows none
    term: int
    applied: int
    learner: bool = False
    linearizable: bool = False  # it has also answered a linearizable read itself
    errors: tuple[str, ...] = ()
    db_size: int = 0
    raft_snapshots: int | None = None  # saved since it started; None where nobody needed to know


@dataclass(frozen=True)
class Silence:
    """A member that was asked and did not answer."""

    why: str


@dataclass(frozen=True, kw_only=True)
class Pull:
    """A pod that brings an image to a member's node."""

    uid: str
    image: str
    node: str
    done: bool = False
    deleting: bool = False
    trouble: str = ""


@dataclass(frozen=True)
class Alarm:
    member: int  # 0: of nobody in particular
    kind: str


@dataclass(frozen=True, kw_only=True)
class View:
    """What is known, what is wanted, and what time it is."""

    now: datetime
    cluster: EtcdCluster
    repository: str  # of etcd's image
    policy: str  # fingerprint of what the user asks of pods now
    suffixes: tuple[str, ...]  # fresh random ends for members' names, as many as a cluster can have members
    bootstrapped: bool = False  # the object itself says so, whatever its status says
    bodies: Mapping[str, Body] = field(default_factory=dict)
    disks: Mapping[str, Disk] = field(default_factory=dict)
    pulls: Mapping[str, Pull] = field(default_factory=dict)  # by member
    roster: tuple[Listed, ...] | None = None  # None: no linearizable list could be had
    no_roster: str = ""  # why
    answers: Mapping[str, Answer | Silence] = field(default_factory=dict)  # by the name of the body that was asked
    alarms: tuple[Alarm, ...] = ()
    authentication: bool | None = None  # None: not asked, or not known
    missing: tuple[str, ...] = ()  # services and budgets that are not there as they should be
    problems: tuple[Refusal, ...] = ()  # what keeps the operator from working with the cluster: secrets, names taken
    alone: bool = False  # so many members of so many clusters are silent that it is rather the operator who is cut off
    last_error: str = ""  # of the last turn, if it failed
