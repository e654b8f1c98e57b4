"""What the demo shows, one scene each: every command in it can be typed by the person afterwards.

Only `kubectl`, the files of `example/` and `deploy/`, and on a box its power switch: nothing here knows the operator.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from box.layout import REPOSITORY
from box.toolchain.tools import tool
from dev.target import DemoError, Target, box, script

NAME = "example-etcd-cluster"
EXAMPLE = "example/example-etcd-cluster.yaml"
CRD = "etcdclusters.etcd.database.coreos.com"
IMAGE = "etcd-operator:dev"
NEWER = tool("etcd-3.7").version
PATIENCE_SECONDS = 240


@dataclass
class Commentary:
    """Says what happens, and when since the start."""

    began: float = field(default_factory=time.monotonic)

    def __call__(self, line: str) -> None:
        print(f"\n[{time.monotonic() - self.began:6.1f} s] {line}", flush=True)


def until(attempt: Callable[[], str | None], *, what: str) -> tuple[str, float]:
    """Try until there is an answer; the answer, and how long it took."""
    began = time.monotonic()
    while time.monotonic() - began < PATIENCE_SECONDS:
        if answer := attempt():
            return answer, time.monotonic() - began
        time.sleep(0.3)
    raise DemoError(f"{what} did not happen within {PATIENCE_SECONDS} s; `kubectl describe etcd {NAME}` says more.")


def stored(target: Target) -> dict[str, Any]:
    """The EtcdCluster as Kubernetes has it; empty while it cannot be had."""
    found: dict[str, Any] = json.loads(target.ask("get", "etcd", NAME, "-o", "json") or "{}")
    return found


def serving(cluster: dict[str, Any]) -> list[str]:
    names: list[str] = cluster.get("status", {}).get("members", {}).get("ready") or []
    return names


def is_ready(cluster: dict[str, Any], *, without: str = "") -> bool:
    """Whether what the spec asks for now is reached, by members other than a lost one."""
    generation = cluster.get("metadata", {}).get("generation")
    conditions = cluster.get("status", {}).get("conditions", [])
    ready = any(
        each["type"] == "Ready" and each["status"] == "True" and each.get("observedGeneration") == generation
        for each in conditions
    )
    return ready and without not in serving(cluster)


def await_ready(target: Target, *, without: str = "") -> float:
    """Seconds until the cluster is as wanted."""
    _, seconds = until(lambda: "yes" if is_ready(stored(target), without=without) else None, what="Ready")
    return seconds


def etcdctl(member: str, *arguments: str) -> tuple[str, ...]:
    return ("exec", member, "-c", "etcd", "--", "etcdctl", "--command-timeout=3s", *arguments)


def install(target: Target, say: Commentary) -> None:
    say("The operator is installed as its documentation says: its rights, then itself.")
    script(target, "example/rbac/create_role.sh")
    target.show("create", "-f", "example/deployment.yaml")
    target.show("rollout", "status", "deployment/etcd-operator", f"--timeout={PATIENCE_SECONDS}s")
    target.show("wait", "--for=condition=Established", f"crd/{CRD}", "--timeout=60s")


def install_in_namespace(target: Target, say: Commentary, *, image: str) -> None:
    """Where rights are given for one namespace, and the definitions by whoever may."""
    if target.ask("get", "crd", CRD):
        say("EtcdCluster is defined here already; that definition stays as it is.")
    else:
        say("The definitions of the three kinds: the only thing outside of the demo's namespace.")
        target.show("apply", "-f", "deploy/crds")
        target.show("wait", "--for=condition=Established", f"crd/{CRD}", "--timeout=60s")
    say(f"The operator ({image}), with rights in this namespace only.")
    text = (REPOSITORY / "deploy" / "install-namespaced.yaml").read_text()
    target.apply(text.replace(f"image: {IMAGE}", f"image: {image}"))
    target.show("rollout", "status", "deployment/etcd-operator", f"--timeout={PATIENCE_SECONDS}s")


def create_cluster(target: Target, say: Commentary) -> None:
    say("A cluster of three members, from a manifest of a few lines.")
    target.show("apply", "-f", EXAMPLE)
    seconds = await_ready(target)
    say(f"All three serve, {seconds:.1f} s later.")
    target.show("get", "pods", "-l", "app=etcd", "-o", "wide")
    target.show("get", "etcd")


def write_and_read(target: Target, say: Commentary) -> None:
    say("A value written through one member is read through another.")
    first, second, *_ = serving(stored(target))
    target.show(*etcdctl(first, "put", "greeting", "hello"))
    target.show(*etcdctl(second, "get", "greeting"))


def read_again(target: Target, *, through: str, key: str = "greeting") -> float:
    read = etcdctl(through, "get", "--print-value-only", key)
    value, seconds = until(lambda: target.ask(*read), what=f"A read through {through}")
    print(f"$ {target.spelt(*read)}\n{value}", flush=True)
    return seconds


def grow(target: Target, say: Commentary) -> None:
    say("Two members more. They join as learners, and vote when they have caught up.")
    target.show("scale", "etcd", NAME, "--replicas=5")
    seconds = await_ready(target)
    say(f"Five serve, {seconds:.1f} s later.")
    target.show("get", "etcd")


def lose_a_pod(target: Target, say: Commentary) -> None:
    victim, survivor, *_ = serving(stored(target))
    say(f"The pod of {victim} is deleted, and its disk with it.")
    target.show("delete", "pod", victim, "--wait=false")
    read_again(target, through=survivor)
    seconds = await_ready(target, without=victim)
    say(f"Another member has taken its place, {seconds:.1f} s after that. What the operator did:")
    target.show("events", "--for", f"etcdcluster/{NAME}")


def lose_power(target: Target, say: Commentary) -> None:
    cluster = stored(target)
    victim = next(each for each in cluster["status"]["memberList"] if each["role"] != "Leader")
    survivor = next(name for name in serving(cluster) if name != victim["name"])
    say(f"Power failure on {victim['node']}, where {victim['name']} runs: every process on it is killed at once.")
    box("node", "kill", victim["node"])
    seconds = read_again(target, through=survivor)
    say(f"The data is still there: {survivor} answered a linearizable read {seconds:.1f} s after the failure.")
    say(f"{victim['node']} gets its power back. Its members come back on their old disks; nobody was replaced.")
    box("node", "start", victim["node"])
    read_again(target, through=victim["name"])
    seconds = await_ready(target)
    say(f"Everybody serves again, {seconds:.1f} s later.")


def upgrade(target: Target, say: Commentary) -> None:
    say(f"An upgrade to {NEWER}: one member at a time, the leader last and after handing over.")
    patch = json.dumps({"spec": {"version": NEWER}})
    target.show("patch", "etcd", NAME, "--type=merge", "-p", patch)
    seconds = await_ready(target)
    say(f"All members run {NEWER}, {seconds:.1f} s later, on the disks they had.")
    target.show("get", "pods", "-l", "app=etcd")
    read_again(target, through=serving(stored(target))[0])
    target.show("get", "etcd")
