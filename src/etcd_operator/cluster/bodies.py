"""A member's pod, as far as decisions need it: how far it has come, and what keeps it from getting on.

The kubelet tells of containers one by one, in states that come and go; what matters is put together here. That etcd has
run once is never forgotten, because whether a member may be started anew depends on it. What the guard decided is
believed while it has ended, not while it looks again.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

import msgspec

from etcd_operator.api.cluster_names import JOINS, POD_POLICY, SERVING, VERSION
from etcd_operator.cluster.containers import CHECK_DNS, ETCD, GUARD
from etcd_operator.cluster.identity import identity_in
from etcd_operator.cluster.last_words import last_words, shortened
from etcd_operator.cluster.patches import is_replaced
from etcd_operator.kube.projections import ContainerStatus, Pod
from etcd_operator.plan.refusal import Refusal
from etcd_operator.plan.view import Body, Stage
from etcd_operator.releases.version import NotAVersionError, Version

# Reasons that a container waits for and that pass by themselves.
ON_ITS_WAY = frozenset({"", "PodInitializing", "ContainerCreating"})


class Verdict(msgspec.Struct, frozen=True):
    """What the guard leaves behind when it does not let etcd start."""

    reason: str
    message: str


def body_of(pod: Pod) -> Body:
    annotations = pod.metadata.annotations
    etcd = _etcd(pod)
    running = etcd.state.running
    since = moment(running.started_at) if running else None
    return Body(
        name=pod.metadata.name,
        uid=pod.metadata.uid,
        stage=stage_of(pod),
        node=pod.spec.node_name,
        address=pod.status.pod_ip,
        image=next((each.image for each in pod.spec.containers if each.name == ETCD), ""),
        version=_version(pod),
        policy=annotations.get(POD_POLICY),
        identity=identity_in(annotations),
        joins=frozenset(name for name in annotations.get(JOINS, "").split(",") if name),
        on_claim=any(volume.persistent_volume_claim for volume in pod.spec.volumes),
        restarts_itself=pod.spec.restart_policy == "Always",
        gated=any(gate.condition_type == SERVING for gate in pod.spec.readiness_gates),
        running=running is not None,
        running_since=since,
        restarting=is_replaced(annotations, since),
        ready=_holds(pod, "Ready") and etcd.ready,  # of a new process the kubelet tells first that it is not
        serving=_holds(pod, SERVING),
        deleting=pod.metadata.deletion_timestamp is not None,
        verdict=verdict_of(pod),
        trouble=trouble_of(pod),
        restarts=etcd.restart_count,
        created=moment(pod.metadata.creation_timestamp),
    )


def stage_of(pod: Pod) -> Stage:
    if pod.status.phase in {"Failed", "Succeeded"}:
        return Stage.ENDED
    if _has_run(_etcd(pod)):
        return Stage.STARTED
    if _has_run(_guard(pod)):
        return Stage.GUARDED
    return Stage.PREPARING if pod.spec.node_name else Stage.PENDING


def verdict_of(pod: Pod) -> Refusal | None:
    for status in pod.status.init_container_statuses:
        if status.state.running:
            return None
        ended = status.state.terminated or status.last_state.terminated
        if ended and ended.exit_code and ended.message:
            return _judged(ended.message)
    return None


def trouble_of(pod: Pod) -> str:
    """In Kubernetes' words; empty while all goes its way."""
    if pod.status.phase in {"Failed", "Succeeded"}:
        ended = _etcd(pod).state.terminated
        words = last_words(ended.message) if ended else ""
        return _sentence(pod.status.reason or pod.status.phase, pod.status.message or words)
    unplaced = (c for c in pod.status.conditions if c.type == "PodScheduled" and c.status == "False")
    for condition in unplaced:
        return _sentence(condition.reason, condition.message)
    for status in (*pod.status.init_container_statuses, *pod.status.container_statuses):
        waiting, before = status.state.waiting, status.last_state.terminated
        if waiting is None or waiting.reason in ON_ITS_WAY:
            continue
        if waiting.reason == "CrashLoopBackOff" and before:
            words = last_words(before.message) or before.reason
            return f"{status.name} ended with {before.exit_code}, {status.restart_count} times so far: {words}"
        return _sentence(waiting.reason, waiting.message)
    return ""


def moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def _judged(message: str) -> Refusal:
    try:
        found = msgspec.json.decode(message, type=Verdict)
    except msgspec.DecodeError:
        return Refusal("GuardFailed", last_words(message))
    return Refusal(found.reason, found.message)


def _etcd(pod: Pod) -> ContainerStatus:
    return _named(pod.status.container_statuses, ETCD)


def _guard(pod: Pod) -> ContainerStatus:
    """By name: whoever changes pods on their way in, such as a service mesh, may put containers behind it."""
    statuses = pod.status.init_container_statuses
    return _named(statuses, GUARD if any(status.name == GUARD for status in statuses) else CHECK_DNS)


def _named(statuses: Iterable[ContainerStatus], name: str) -> ContainerStatus:
    return next((status for status in statuses if status.name == name), ContainerStatus())


def _has_run(status: ContainerStatus) -> bool:
    states = (status.state.running, status.state.terminated, status.last_state.terminated)
    return status.restart_count > 0 or any(state is not None for state in states)


def _holds(pod: Pod, condition: str) -> bool:
    return any(each.type == condition and each.status == "True" for each in pod.status.conditions)


def _version(pod: Pod) -> Version | None:
    try:
        return Version.parse(pod.metadata.annotations.get(VERSION, ""))
    except NotAVersionError:
        return None


def _sentence(reason: str, message: str) -> str:
    return shortened(f"{reason}: {message}" if reason and message else reason or message)
