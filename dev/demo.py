"""`make demo`: what the product can do today, on a real Kubernetes, with a running commentary.

Today that is the box itself. Three etcd members run as plain pods and survive a power failure of one node; the
operator, when it comes, takes the place of the hands that start them here.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from box.toolchain.tools import tool
from dev.etcd_pods import MEMBERS, NAMESPACE, manifests
from dev.target import DemoError, Target, box, box_target, consent, must_be_ours, own_cluster

ETCD = "etcd-3.6"
PATIENCE_SECONDS = 180


@dataclass
class Commentary:
    """Says what happens, and when since the start."""

    began: float = field(default_factory=time.monotonic)

    def __call__(self, line: str) -> None:
        print(f"\n[{time.monotonic() - self.began:6.1f} s] {line}", flush=True)


def image() -> str:
    return f"quay.io/coreos/etcd:v{tool(ETCD).version}"


def until(attempt: Callable[[], str | None], *, what: str) -> tuple[str, float]:
    """Try until there is an answer; the answer, and how long it took."""
    began = time.monotonic()
    while time.monotonic() - began < PATIENCE_SECONDS:
        if answer := attempt():
            return answer, time.monotonic() - began
        time.sleep(0.3)
    raise DemoError(f"{what} did not happen within {PATIENCE_SECONDS} s; `kubectl get pods -n {NAMESPACE}` says more.")


def etcdctl(member: str, *arguments: str) -> tuple[str, ...]:
    return ("exec", "-n", NAMESPACE, member, "--", "etcdctl", "--command-timeout=3s", *arguments)


def start_members(target: Target, say: Commentary) -> None:
    if must_be_ours(target):
        # A member that was lost and is started again with an empty disk would break the cluster it was in.
        say("The members of an earlier demo are here: they are removed first.")
        target.show("delete", "namespace", NAMESPACE)
    say(f"Three etcd members ({image()}) as plain pods, spread over the nodes.")
    began = time.monotonic()
    target.apply(manifests(image=image()))
    target.show("wait", "-n", NAMESPACE, "--for=condition=Ready", "pod", "--all", f"--timeout={PATIENCE_SECONDS}s")
    say(f"All three are ready, {time.monotonic() - began:.1f} s after they were asked for.")
    target.show("get", "pods", "-n", NAMESPACE, "-o", "wide")


def write_and_read(target: Target, say: Commentary) -> None:
    say("A value written through one member is read through another.")
    target.show(*etcdctl(MEMBERS[0], "put", "greeting", "hello"))
    target.show(*etcdctl(MEMBERS[1], "get", "greeting"))


def read_again(target: Target, *, through: str, key: str) -> float:
    read = etcdctl(through, "get", "--print-value-only", key)
    value, seconds = until(lambda: target.ask(*read), what=f"A read through {through}")
    print(f"$ kubectl {' '.join(read)}\n{value}", flush=True)
    return seconds


def kill_a_node(target: Target, say: Commentary) -> None:
    victim, survivor = MEMBERS[0], MEMBERS[1]
    node = target.ask("get", "pod", "-n", NAMESPACE, victim, "-o", "jsonpath={.spec.nodeName}")
    if not node:
        raise DemoError(f"{victim} is on no node; `kubectl describe pod -n {NAMESPACE} {victim}` says why.")
    say(f"Power failure on {node}, where {victim} runs: every process on it is killed at once.")
    box("node", "kill", node)
    seconds = read_again(target, through=survivor, key="greeting")
    say(f"The data is still there: {survivor} answered a linearizable read {seconds:.1f} s after the failure.")
    target.show(*etcdctl(survivor, "put", "written", "while-a-node-was-off"))
    say(f"{node} gets its power back.")
    box("node", "start", node)
    seconds = read_again(target, through=victim, key="written")
    say(f"{victim} is back on its old disk and knows what it missed, {seconds:.1f} s after its node came back.")


def lose_a_member(target: Target, say: Commentary) -> None:
    victim, survivor = MEMBERS[2], MEMBERS[1]
    say(f"The pod of {victim} is deleted; nobody brings it back, that is what the operator is for.")
    target.show("delete", "pod", "-n", NAMESPACE, victim)
    seconds = read_again(target, through=survivor, key="greeting")
    say(f"2 of 3 members are left and that is a majority: {survivor} answered {seconds:.1f} s later.")


def up_on_a_box() -> None:
    say = Commentary()
    say("What the box needs: Debian packages, then Go tools and images. All of it is kept for the next time.")
    box("image", "build", image())
    say("A Kubernetes with three workers comes up, in its own namespaces; one of an earlier demo is replaced.")
    box("up", "--fresh")
    target = box_target()
    say("The workers as Kubernetes sees them, each with its own kubelet, containerd and network.")
    target.show("get", "nodes", "-o", "wide")
    start_members(target, say)
    write_and_read(target, say)
    kill_a_node(target, say)
    say("It goes on running. In your shell:")
    print()
    box("env")
    print(
        f"kubectl get nodes\n"
        f"kubectl get pods -n {NAMESPACE} -o wide\n"
        f"kubectl exec -n {NAMESPACE} {MEMBERS[0]} -- etcdctl member list -w table\n"
        f"BOX_NAME=demo box/box node kill w2\n"
        f"BOX_NAME=demo box/box --help\n"
        f"\nmake demo-down   removes it."
    )


def up_on_own_cluster(kubeconfig: Path) -> None:
    target = own_cluster(kubeconfig)
    consent(target, to=f"create the namespace {NAMESPACE} with three small etcd pods, and nothing else")
    say = Commentary()
    start_members(target, say)
    write_and_read(target, say)
    lose_a_member(target, say)
    say("It goes on running. In your shell:")
    print(
        f"\nexport KUBECONFIG={kubeconfig}\n"
        f"kubectl get pods -n {NAMESPACE} -o wide\n"
        f"kubectl exec -n {NAMESPACE} {MEMBERS[0]} -- etcdctl member list -w table\n"
        f"\nmake demo-down KUBECONFIG={kubeconfig}   removes it."
    )


def down_on_own_cluster(kubeconfig: Path) -> None:
    target = own_cluster(kubeconfig)
    consent(target, to=f"delete the namespace {NAMESPACE}, and nothing else")
    if not must_be_ours(target):
        print(f"There is no namespace {NAMESPACE} on this cluster: nothing to remove.")
        return
    target.show("delete", "namespace", NAMESPACE)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python3 -m dev.demo", description="Show what the product can do today.")
    parser.add_argument("command", choices=("up", "down"))
    parser.add_argument("--kubeconfig", type=Path, help="use this cluster instead of a box; it asks first")
    return parser.parse_args()


def main() -> None:
    chosen = parse()
    own: Path | None = chosen.kubeconfig.absolute() if chosen.kubeconfig else None
    try:
        if chosen.command == "up":
            up_on_own_cluster(own) if own else up_on_a_box()
        else:
            down_on_own_cluster(own) if own else box("down")
    except DemoError as failure:
        sys.exit(str(failure))
    except KeyboardInterrupt:
        sys.exit("Interrupted: `make demo` goes on from here, `make demo-down` removes what there is.")


if __name__ == "__main__":
    main()
