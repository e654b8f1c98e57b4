"""Does what was decided: one short function per step and per chore.

Each has a deadline, names the object it means by its UID or the member by its ID, and is begun only while the lease is
ours for longer than it may take. What takes a member out or in rests on what the members have just said. What a step
can end with is in `outcome`; errors of Kubernetes come as they are.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from etcd_operator.api.cluster import EtcdCluster
from etcd_operator.api.cluster_names import BORN
from etcd_operator.cluster import attire, patches
from etcd_operator.cluster.caches import Caches
from etcd_operator.cluster.claim import member_claim
from etcd_operator.cluster.image_pull import image_pull, image_pull_name
from etcd_operator.cluster.images import Images
from etcd_operator.cluster.launch import launch_of
from etcd_operator.cluster.membership import Change, Membership
from etcd_operator.cluster.observe import Observer, Sight
from etcd_operator.cluster.outcome import NotDoneError
from etcd_operator.cluster.pod import member_pod
from etcd_operator.cluster.surroundings import Fitting, budget, cache_of, is_ours, services, taken
from etcd_operator.cluster.writes import Writes
from etcd_operator.etcd.call import CHANGE
from etcd_operator.kube.errors import ConflictError, KubeError
from etcd_operator.kube.requests import PatchKind
from etcd_operator.kube.store import Key
from etcd_operator.plan.steps import (
    AddMember,
    ChangeImage,
    Chore,
    DeleteClaim,
    DeletePod,
    DressPod,
    DropPull,
    EnsureSurroundings,
    ExpandClaim,
    MoveLeader,
    OpenGate,
    OwnClaim,
    PromoteLearner,
    PullImage,
    RecordBirth,
    RecordIdentity,
    RemoveMember,
    ReturnMember,
    SaveRaftSnapshots,
    Start,
    StartMembers,
    Step,
    Wait,
)

FRESH = 5.0  # seconds; an API server that is slow must not make a change of members rest on what was so long ago

DISTURBING = (AddMember, PromoteLearner, RemoveMember, MoveLeader, DeletePod, DeleteClaim, ChangeImage)


@dataclass(frozen=True, kw_only=True)
class Hands:
    """What doing takes, for one turn of one cluster."""

    sight: Sight
    observer: Observer
    writes: Writes

    @property
    def cluster(self) -> EtcdCluster:
        return self.sight.view.cluster

    @property
    def caches(self) -> Caches:
        return self.observer.caches

    @property
    def images(self) -> Images:
        return self.observer.images

    def rely(self) -> None:
        """Who has just answered is what a step that takes somebody out or in was decided on."""
        age = asyncio.get_running_loop().time() - self.sight.at
        if age > FRESH:
            raise NotDoneError(
                "LookedTooLongAgo", f"the members were asked {age:.0f} s ago; they are asked again first"
            )

    async def take(self, step: Step) -> None:
        if isinstance(step, DISTURBING):
            self.rely()
        match step:
            case Wait():
                return
            case StartMembers(starts=starts):
                await _together(*(self._start(start) for start in starts))
            case ReturnMember(start=start):
                await self._start(start)
            case AddMember() | PromoteLearner() | RemoveMember() | MoveLeader() | SaveRaftSnapshots():
                self.writes.hold(CHANGE)
                await self._change_members(step)
            case DeletePod():
                await self.writes.delete(self.caches.pods, step.member, uid=step.uid)
            case DeleteClaim():
                await self.writes.delete(self.caches.claims, step.member, uid=step.uid)
            case PullImage():
                pod = image_pull(self.cluster, member=step.member, node=step.node, image=step.image)
                await self.writes.create(self.caches.pods, pod)
            case DropPull():
                await self.writes.delete(self.caches.pods, image_pull_name(step.member), uid=step.uid)
            case ChangeImage():
                await self._change_image(step)
            case _:
                raise NotImplementedError(step.name)

    async def tidy(self, chore: Chore) -> None:
        match chore:
            case EnsureSurroundings():
                await self._ensure(chore)
            case RecordBirth():
                await self.writes.annotate(self.caches.clusters, {BORN: f"{chore.cluster_id:x}"})
            case RecordIdentity():
                await self._record_identity(chore)
            case OpenGate():
                change = patches.gate(uid=chore.uid, opened=chore.open, now=self.sight.view.now)
                await self.writes.patch(self.caches.pods, chore.member, change, subresource="status")
            case DressPod():
                await self._dress(chore)
            case ExpandClaim():
                change = patches.requested(uid=chore.uid, storage=chore.storage)
                await self.writes.patch(self.caches.claims, chore.member, change)
            case OwnClaim():
                change = patches.belonging(self.cluster, uid=chore.uid, owned=chore.owned)
                await self.writes.patch(self.caches.claims, chore.member, change)
            case _:
                raise NotImplementedError(chore.name)

    async def _change_members(self, step: Change) -> None:
        """And what the next turn would do on the pod, at once.

        The kubelet looks at a pod again after each change of it, but only once a second: of two changes shortly after
        each other, the second waits for that. So a joiner's identity is written while its guard still waits, and the
        gate is opened with the vote: on the port for clients it answered a moment ago. Not the identity of a voter: if
        its guard began anew it would refuse the empty disk, and a cluster of two could not even remove it.
        """
        members = Membership(self.sight.view, self.sight.dial)
        if isinstance(step, AddMember):
            identity, body = await members.add(step), self.sight.view.bodies[step.member]
            if identity is not None and step.learner:
                await self._try(RecordIdentity(step.member, body.uid, claim_uid="", identity=identity))
            return
        await members.change(step)
        if isinstance(step, PromoteLearner):
            body = self.sight.view.bodies[step.member]
            if body.gated and not body.serving:
                await self._try(OpenGate(step.member, body.uid, open=True))

    async def _try(self, chore: Chore) -> None:
        """If it fails, the next turn finds that it is still to be done."""
        with suppress(KubeError, NotDoneError):
            await self.tidy(chore)

    async def _start(self, start: Start) -> None:
        """The claim first: a pod that names none that is there would have to be looked at by the scheduler twice."""
        policy = self.cluster.spec.pod
        wanted = policy.persistent_volume_claim_spec if policy else None
        if start.on_claim and start.member not in self.sight.view.disks and wanted is not None:
            await self.writes.create(self.caches.claims, member_claim(self.cluster, start.member, wanted=wanted))
        pod = member_pod(self.cluster, launch_of(self.cluster, start), images=self.images)
        await self.writes.create(self.caches.pods, pod)

    async def _change_image(self, step: ChangeImage) -> None:
        body = self.sight.view.bodies[step.member]
        if body.uid != step.uid:
            raise NotDoneError("PodGone", f"the pod of {step.member} is another by now")
        change = patches.new_image(body, version=str(step.version), image=step.image)
        await self.writes.patch(self.caches.pods, step.member, change)

    async def _ensure(self, chore: EnsureSurroundings) -> None:
        """Only what was found amiss: where no list of members can be had, the budget that is there knows more."""
        view = self.sight.view
        fittings = (*services(self.cluster), budget(self.cluster, voters=chore.voters, bodies=view.bodies))
        await _together(*(self._fit(fitting) for fitting in fittings if str(fitting) in view.missing))

    async def _fit(self, fitting: Fitting) -> None:
        """What is there is found by name and taken over only if it is ours; else a conflict tells of a race."""
        uid, namespace = self.cluster.metadata.uid, self.cluster.metadata.namespace
        found = await self.observer.find(fitting, namespace=namespace)
        cache = cache_of(self.caches, fitting)
        if found is not None and not is_ours(found, uid):
            raise NotDoneError("NameTaken", taken(found, fitting).sentence)
        if found is not None:
            metadata = {**fitting.manifest["metadata"], "uid": found.metadata.uid}
            await self.writes.apply(cache, {**fitting.manifest, "metadata": metadata}, force=True)
            return
        try:
            await self.writes.apply(cache, fitting.manifest, force=False)
        except ConflictError as error:
            raise NotDoneError("NameTaken", f"{fitting} was made by somebody else: {error}") from None

    async def _dress(self, chore: DressPod) -> None:
        pod = self.caches.pods.store.get(Key(self.cluster.metadata.namespace, chore.member))
        change = attire.change(self.cluster, pod.metadata) if pod and pod.metadata.uid == chore.uid else None
        if change:
            await self.writes.patch(self.caches.pods, chore.member, change, kind=PatchKind.MERGE)

    async def _record_identity(self, chore: RecordIdentity) -> None:
        """The claim first: it is what the next pod learns from."""
        if chore.claim_uid:
            change = patches.identified(uid=chore.claim_uid, identity=chore.identity)
            await self.writes.patch(self.caches.claims, chore.member, change)
        change = patches.identified(uid=chore.pod_uid, identity=chore.identity, policy=chore.policy)
        await self.writes.patch(self.caches.pods, chore.member, change)


async def _together(*works: Coroutine[Any, Any, None]) -> None:
    """All of them to their end, then the first error there was."""
    results = await asyncio.gather(*works, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
