"""A cluster in miniature, as it is: pods, disks, members, nodes. What an operator can see of it is its `view`.

Silent and frozen, deleted and stuck, told and running are kept apart here, because they look alike from outside.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from typing import Any

import msgspec

from etcd_operator.api.cluster import ClusterSpec, ClusterStatus, EtcdCluster
from etcd_operator.api.stored import ObjectMeta
from etcd_operator.plan.refusal import Refusal
from etcd_operator.plan.view import Alarm, Answer, Body, Disk, Identity, Listed, Pull, Silence, Stage, View
from etcd_operator.releases.version import Series, Version

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
REPOSITORY = "etcd"
CLUSTER_ID = 0xC1
NO_SERIES = Series(0, 0)
NODES = ("node-a", "node-b", "node-c")
CLAIM = {"persistentVolumeClaimSpec": {"resources": {"requests": {"storage": "1Gi"}}}}


@dataclass
class Pod:
    name: str
    uid: str
    version: Version  # that it was told
    joins: frozenset[str]
    runs: Version | None = None  # what its process is, if there is one
    seed: bool = False
    on_claim: bool = False
    policy: str = "p1"
    stage: Stage = Stage.PENDING
    identity: Identity | None = None
    node: str = ""
    created: datetime = BEGIN
    since: datetime | None = None
    frozen: bool = False
    schedulable: bool = True
    deleting: bool = False
    serving: bool = False
    verdict: Refusal | None = None
    trouble: str = ""
    restarts_itself: bool = True
    gated: bool = True


@dataclass
class Member:
    id: int
    name: str
    learner: bool = False
    started: bool = False
    behind: int = 0  # entries
    ours: bool = True


@dataclass
class Scene:
    size: int = 3
    version: str = "3.6.16"
    claims: bool = False
    paused: bool = False
    policy: str = "p1"
    now: datetime = BEGIN
    status: ClusterStatus = field(default_factory=ClusterStatus)
    born: bool = False
    births: int = 0  # how often a first member has begun a cluster
    pods: dict[str, Pod] = field(default_factory=dict)
    disks: dict[str, Disk] = field(default_factory=dict)
    written: set[str] = field(default_factory=set)  # whose disk etcd has written to, wherever it is
    members: list[Member] = field(default_factory=list)
    leader: int = 0
    series: Series = NO_SERIES  # the cluster's own version, as etcd calls it
    pulls: dict[str, Pull] = field(default_factory=dict)
    lost_nodes: set[str] = field(default_factory=set)
    full: bool = False  # no pod finds a node
    registry: bool = True  # gives images
    alarms: tuple[Alarm, ...] = ()
    alone: bool = False
    slow: set[str] = field(default_factory=set)  # members that answer, but no linearizable read
    cut_off: set[str] = field(default_factory=set)  # members that answer and know of no leader
    authentication: bool = False
    raft_snapshots: bool = False
    metrics: bool = True  # can be read
    missing: tuple[str, ...] = ("demo", "demo-client")
    problems: tuple[Refusal, ...] = ()
    bad_versions: tuple[str, ...] = ()
    silent_from: dict[str, datetime] = field(default_factory=dict)  # by the world's own clock
    numbers: Iterator[int] = field(default_factory=lambda: count(1))

    # Who is there

    def pod_runs(self, name: str) -> bool:
        pod = self.pods.get(name)
        return (
            pod is not None
            and pod.stage is Stage.STARTED
            and pod.runs is not None
            and not pod.frozen
            and pod.node not in self.lost_nodes
        )

    def alive(self, member: Member) -> bool:
        return member.started and self.pod_runs(member.name) and member.name not in self.cut_off

    def stays(self, member: Member) -> bool:
        """Alive, and nobody is about to stop it."""
        pod = self.pods.get(member.name)
        return pod is not None and self.alive(member) and not pod.deleting and pod.runs == pod.version

    @property
    def voters(self) -> list[Member]:
        return [member for member in self.members if not member.learner]

    @property
    def names(self) -> list[str]:
        return sorted(member.name for member in self.members)

    def member(self, name: str) -> Member | None:
        return next((each for each in self.members if each.name == name), None)

    def has_quorum(self) -> bool:
        return bool(self.voters) and sum(map(self.alive, self.voters)) > len(self.voters) // 2

    def elect(self) -> None:
        alive = [member.id for member in self.voters if self.alive(member)]
        if self.leader not in alive:
            self.leader = alive[0] if alive else 0

    # What is seen

    @property
    def cluster(self) -> EtcdCluster:
        asked = {
            "size": self.size,
            "version": self.version,
            "paused": self.paused,
            "pod": CLAIM if self.claims else None,
        }
        spec = msgspec.convert(asked, ClusterSpec)
        metadata = ObjectMeta(name="demo", namespace="ns", uid="u1", generation=1)
        return EtcdCluster(metadata=metadata, spec=spec, status=self.status)

    def view(self) -> View:
        quorum = self.has_quorum()
        return View(
            now=self.now,
            cluster=self.cluster,
            repository=REPOSITORY,
            policy=self.policy,
            suffixes=tuple(f"n{next(self.numbers):09d}" for _ in range(7)),
            bootstrapped=self.born,
            bodies={name: self._body(pod) for name, pod in self.pods.items()},
            disks=dict(self.disks),
            pulls=dict(self.pulls),
            roster=tuple(self._listed(member) for member in self.members) if quorum else None,
            no_roster="" if quorum else "none answers",
            answers={name: self._answer(pod) for name, pod in self.pods.items() if pod.stage is Stage.STARTED},
            alarms=self.alarms if quorum else (),
            alone=self.alone,
            authentication=self.authentication,
            missing=self.missing,
            problems=self.problems,
        )

    def _body(self, pod: Pod) -> Body:
        running = pod.stage is Stage.STARTED and pod.runs is not None
        return Body(
            name=pod.name,
            uid=pod.uid,
            stage=pod.stage,
            node=pod.node,
            address="10.0.0.1" if pod.node else "",
            image=f"{REPOSITORY}:v{pod.version}",
            version=pod.version,
            policy=pod.policy or None,
            identity=pod.identity,
            joins=pod.joins,
            on_claim=pod.on_claim,
            running=running,
            restarting=running and pod.runs != pod.version,
            running_since=pod.since if running else None,
            ready=running and pod.serving,
            serving=pod.serving,
            deleting=pod.deleting,
            verdict=pod.verdict,
            trouble=pod.trouble or ("0/3 nodes are available" if self._homeless(pod) else ""),
            created=pod.created,
            restarts_itself=pod.restarts_itself,
            gated=pod.gated,
        )

    def _homeless(self, pod: Pod) -> bool:
        return not pod.node and (self.full or not pod.schedulable)

    def _listed(self, member: Member) -> Listed:
        domain = "demo.ns.svc" if member.ours else "example.com"
        return Listed(
            id=member.id,
            name=member.name,
            peer_urls=frozenset({f"http://{member.name}.{domain}:2380"}),
            learner=member.learner,
            started=member.started,
            ours=member.ours,
        )

    def _answer(self, pod: Pod) -> Answer | Silence:
        member = self.member(pod.name)
        if member is None or pod.runs is None or not (member.started and self.pod_runs(pod.name)):
            return Silence("no answer")
        return Answer(
            identity=Identity(CLUSTER_ID, member.id),
            version=pod.runs,
            leader=self.leader if self.has_quorum() and pod.name not in self.cut_off else 0,
            term=2,
            applied=10_000 - member.behind,
            learner=member.learner,
            linearizable=self.has_quorum() and not member.learner and pod.name not in self.slow | self.cut_off,
            raft_snapshots=int(self.raft_snapshots) if self.metrics else None,
            db_size=20480,
        )

    def condition(self, name: str) -> tuple[Any, Any]:
        found = next(each for each in self.status.conditions or () if each.type == name)
        return found.status, found.reason
