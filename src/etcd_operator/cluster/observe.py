"""Looks at a cluster: the caches, the secrets it names, its members. What was seen is one frozen value.

Nothing here decides. What cannot be had is told as such: a silent member, a list that nobody gives, a secret that is
missing. Only when Kubernetes itself does not answer is there no view.
"""

from __future__ import annotations

import asyncio
import enum
import secrets as chance
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from etcd_operator.api.cluster import EtcdCluster
from etcd_operator.api.cluster_names import BORN, SUFFIX_ALPHABET, SUFFIX_LENGTH
from etcd_operator.cluster import attire
from etcd_operator.cluster.access import Access, access
from etcd_operator.cluster.bodies import body_of
from etcd_operator.cluster.caches import Caches
from etcd_operator.cluster.crowd import Crowd
from etcd_operator.cluster.dialling import Dial, Dialler, at
from etcd_operator.cluster.disks import disk_of, pull_of
from etcd_operator.cluster.environment import metrics_port
from etcd_operator.cluster.image_pull import IMAGE_PULL, member_of
from etcd_operator.cluster.images import Images
from etcd_operator.cluster.inquiry import Heard, inquire
from etcd_operator.cluster.isolation import Silences
from etcd_operator.cluster.policy import fingerprint
from etcd_operator.cluster.recollection import is_id, recollected
from etcd_operator.cluster.secrets import Secrets
from etcd_operator.cluster.surroundings import Fitting, budget, cached, fits, is_ours, misled, services, taken
from etcd_operator.etcd.errors import EtcdError
from etcd_operator.etcd.metrics import MetricsPages
from etcd_operator.etcd.pool import Pool
from etcd_operator.kube.client import Client
from etcd_operator.kube.errors import NotFoundError
from etcd_operator.kube.objects import PartialObject
from etcd_operator.kube.projections import Pod
from etcd_operator.kube.store import Key
from etcd_operator.plan import wanted
from etcd_operator.plan.birth import born
from etcd_operator.plan.refusal import Refusal
from etcd_operator.plan.view import Answer, Body, Silence, Stage, View
from etcd_operator.releases.hops import AuthenticationOff, FreshRaftSnapshotOnEveryMember, Need
from etcd_operator.releases.path import Move, move

LARGEST_CLUSTER = 7
METRICS_SECONDS = 2.0


class Flaw(enum.Enum):
    """Of an object that is not there, or not as it should be."""

    MISSING = "missing"


@dataclass(frozen=True)
class Sight:
    """What was seen, how its members are reached, and when they were asked, as the event loop counts seconds."""

    view: View
    dial: Dialler
    at: float


@dataclass(frozen=True, kw_only=True)
class Observer:
    """What looking takes."""

    client: Client
    caches: Caches
    secrets: Secrets
    pool: Pool
    pages: MetricsPages
    silences: Silences
    crowd: Crowd
    images: Images

    async def observe(self, cluster: EtcdCluster, *, last_error: str = "") -> Sight:
        way = await access(cluster, self.secrets)
        dial = Dial(self.pool, cluster, way)
        async with self.crowd.place(silent=self.silences.any_in(_key(cluster))):
            view, asked_at = self._at_hand(cluster), asyncio.get_running_loop().time()
            heard = Heard(no_roster=way.barred) if way.barred else await inquire(cluster, [*view.bodies.values()], dial)
        view = replace(
            view,
            last_error=last_error,
            bodies={name: _as_heard(body, heard) for name, body in view.bodies.items()},
            answers=heard.answers,
            roster=heard.roster,
            no_roster=heard.no_roster,
            alarms=heard.alarms,
            alone=self._alone(cluster, view, heard),
        )
        missing, names_taken = await self._surroundings(cluster, view)
        problems = (*way.problems, *_unauthorized(cluster, way, heard), *names_taken, *self._strangers(cluster, view))
        view = replace(view, missing=missing, problems=problems)
        return Sight(await self._with_needs(view, heard), dial, asked_at)

    def _at_hand(self, cluster: EtcdCluster) -> View:
        """What is known without asking anybody."""
        uid = cluster.metadata.uid
        pods = self.caches.pods_of(cluster.metadata)
        pulls, members = [pod for pod in pods if _pulls(pod)], [pod for pod in pods if not _pulls(pod)]
        claims = self.caches.claims_of(cluster.metadata)
        return View(
            now=datetime.now(UTC),
            cluster=recollected(cluster),
            repository=cluster.spec.repository or self.images.etcd_repository,
            policy=fingerprint(cluster.spec),
            suffixes=tuple(_suffix() for _ in range(LARGEST_CLUSTER)),
            bootstrapped=is_born(cluster),
            bodies={pod.metadata.name: _body(cluster, pod) for pod in members},
            disks={claim.metadata.name: disk_of(claim, cluster_uid=uid) for claim in claims},
            pulls={member_of(pod.metadata.name): pull_of(pod) for pod in pulls},
        )

    def _alone(self, cluster: EtcdCluster, view: View, heard: Heard) -> bool:
        said = witnesses(view, heard)
        silent = sum(isinstance(each, Silence) for each in said)
        self.silences.note(_key(cluster), asked=len(said), silent=silent)
        return self.silences.alone

    async def _surroundings(self, cluster: EtcdCluster, view: View) -> tuple[tuple[str, ...], tuple[Refusal, ...]]:
        """What is not as it should be, and whose names are another's."""
        fittings = self._fittings(cluster, view)
        found = await asyncio.gather(*(self._amiss(cluster, fitting) for fitting in fittings))
        missing = tuple(str(fitting) for fitting, flaw in zip(fittings, found, strict=True) if flaw is Flaw.MISSING)
        return missing, tuple(flaw for flaw in found if isinstance(flaw, Refusal))

    def _strangers(self, cluster: EtcdCluster, view: View) -> tuple[Refusal, ...]:
        """A cluster does not begin while its services would lead clients to another's data."""
        if born(view) or view.roster is not None:
            return ()
        return tuple(misled(pod.metadata) for pod in self.caches.strangers_of(cluster.metadata))

    async def _amiss(self, cluster: EtcdCluster, fitting: Fitting) -> Refusal | Flaw | None:
        uid, namespace = cluster.metadata.uid, cluster.metadata.namespace
        found = cached(self.caches, fitting, namespace=namespace)
        if fits(found, fitting, uid=uid):
            return None
        if found is None or not is_ours(found, uid):
            found = await self.find(fitting, namespace=namespace)
        return Flaw.MISSING if found is None or is_ours(found, uid) else taken(found, fitting)

    def _fittings(self, cluster: EtcdCluster, view: View) -> tuple[Fitting, ...]:
        """The budget counts voters: while they are not known, the one that is there stays."""
        voters = None if view.roster is None else sum(not member.learner for member in view.roster)
        wanted_budget = budget(cluster, voters=voters or 0, bodies=view.bodies)
        there = cached(self.caches, wanted_budget, namespace=cluster.metadata.namespace)
        settled = voters is None and there is not None and is_ours(there, cluster.metadata.uid)
        return services(cluster) if settled else (*services(cluster), wanted_budget)

    async def find(self, fitting: Fitting, *, namespace: str) -> PartialObject | None:
        """Asked for by name: the caches hold only what carries our label."""
        try:
            return await self.client.get(fitting.resource, fitting.name, namespace=namespace, into=PartialObject)
        except NotFoundError:
            return None

    async def _with_needs(self, view: View, heard: Heard) -> View:
        """What only an upgrade has to know is asked for only where one is wanted."""
        needs = needs_of(view)
        if any(isinstance(need, FreshRaftSnapshotOnEveryMember) for need in needs):
            counted = await asyncio.gather(*(self._snapshots(view, name) for name in view.answers))
            view = replace(view, answers=dict(zip(view.answers, counted, strict=True)))
        if heard.teller is not None and any(isinstance(need, AuthenticationOff) for need in needs):
            with suppress(EtcdError):  # then it is not known, and so it says
                view = replace(view, authentication=await heard.teller.authentication_is_on())
        return view

    async def _snapshots(self, view: View, name: str) -> Answer | Silence:
        answer, port = view.answers[name], metrics_port(view.cluster)
        if not isinstance(answer, Answer) or port is None:
            return answer
        address = at(view.bodies[name].address, port)
        try:
            count = await self.pages.raft_snapshots(address, deadline=METRICS_SECONDS)
        except EtcdError:
            return answer
        return replace(answer, raft_snapshots=count)


def _body(cluster: EtcdCluster, pod: Pod) -> Body:
    return replace(body_of(pod), undressed=attire.change(cluster, pod.metadata) is not None)


def needs_of(view: View) -> tuple[Need, ...]:
    lowest, target = wanted.lowest_version(view), wanted.version(view)
    if lowest is None or target is None:
        return ()
    found = move(lowest, target)
    return found.needs if isinstance(found, Move) else ()


def is_born(cluster: EtcdCluster) -> bool:
    """A cluster of the old operator has no note of it but the phase; an ID that nobody can read is still one."""
    unread = bool(cluster.status.cluster_id) and not is_id(cluster.status.cluster_id)
    return BORN in cluster.metadata.annotations or cluster.status.phase == "Running" or unread


def witnesses(view: View, heard: Heard) -> list[Answer | Silence]:
    """Of members whose silence tells of the way to them: those that run and do not just refuse to let us in.

    Else one user's clusters, by what is wrong with them alone, would speak about everybody's.
    """
    if heard.unauthorized:
        return []
    bodies = view.bodies
    return [said for name, said in heard.answers.items() if isinstance(said, Answer) or bodies[name].running]


def _key(cluster: EtcdCluster) -> Key:
    return Key(cluster.metadata.namespace, cluster.metadata.name)


def _as_heard(body: Body, heard: Heard) -> Body:
    """Who answers has started, whether the kubelet has told of it already or not."""
    answered = isinstance(heard.answers.get(body.name), Answer)
    return replace(body, stage=Stage.STARTED, running=True) if answered and body.stage < Stage.STARTED else body


def _unauthorized(cluster: EtcdCluster, way: Access, heard: Heard) -> tuple[Refusal, ...]:
    if not heard.unauthorized:
        return ()
    if way.login is None:
        name, namespace = f"{cluster.metadata.name}-root", cluster.metadata.namespace
        sentence = (
            f"etcd's authentication is on, and spec.authSecret names no user for the operator. Create a secret with "
            f"kubectl create secret generic {name} -n {namespace} --from-literal=username=root "
            f"--from-literal=password=... and set spec.authSecret to {name}."
        )
        return (Refusal("AuthenticationNeeded", sentence),)
    sentence = (
        f"etcd does not let the user of Secret {cluster.spec.auth_secret} in or refuses him something: "
        f"{heard.unauthorized}. The user needs the role root, and the secret his present password."
    )
    return (Refusal("AuthenticationFailed", sentence),)


def _pulls(pod: Pod) -> bool:
    return pod.metadata.labels.get("app") == IMAGE_PULL


def _suffix() -> str:
    return "".join(chance.choice(SUFFIX_ALPHABET) for _ in range(SUFFIX_LENGTH))
