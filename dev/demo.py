"""`make demo`: what the product can do today, on a real Kubernetes, with a running commentary.

On a box it walks the documented way in the namespace `default`, and lets a machine lose its power. On somebody's own
cluster everything is in one namespace, and the power stays on.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from box.toolchain.tools import tool
from dev import scenes
from dev.scenes import Commentary
from dev.target import NAMESPACE, DemoError, Target, box, box_target, consent, must_be_ours, namespace, own_cluster

TO_TRY = (
    "kubectl get etcd",
    f"kubectl describe etcd {scenes.NAME}",
    f"kubectl scale etcd {scenes.NAME} --replicas=3",
    f"kubectl delete pod -l etcd_cluster={scenes.NAME}   # all, and all data: the status says what is left to do",
)


def images() -> list[str]:
    """What the demo's pods run: the operator, the etcd of the example, and the one it is upgraded to."""
    etcd = [f"quay.io/coreos/etcd:v{tool(name).version}" for name in ("etcd-3.6", "etcd-3.7")]
    return ["docker.io/library/" + scenes.IMAGE, *etcd]


def up_on_a_box() -> None:
    say = Commentary()
    say("What the box needs: Debian packages, then Go tools and images. All of it is kept for the next time.")
    box("image", "build", *images())
    say("A Kubernetes with three workers comes up, in its own namespaces; one of an earlier demo is replaced.")
    box("up", "--fresh")
    target = box_target()
    target.show("get", "nodes")
    scenes.install(target, say)
    scenes.create_cluster(target, say)
    scenes.write_and_read(target, say)
    scenes.grow(target, say)
    scenes.lose_a_pod(target, say)
    scenes.lose_power(target, say)
    scenes.upgrade(target, say)
    say("It goes on running. In your shell:")
    print()
    box("env")
    print("\n".join(TO_TRY))
    print("BOX_NAME=demo box/box node kill w2\nBOX_NAME=demo box/box --help\n\nmake demo-down   removes it.")


def up_on_own_cluster(kubeconfig: Path) -> None:
    image = os.environ.get("DEMO_IMAGE") or scenes.IMAGE
    target = own_cluster(kubeconfig)
    consent(
        target,
        to=f"define the kinds EtcdCluster, EtcdBackup and EtcdRestore if they are not, and create the namespace "
        f"{NAMESPACE} with the operator and an etcd cluster of five small pods. The operator's image is {image}, which "
        "the nodes must be able to pull; DEMO_IMAGE names another",
    )
    say = Commentary()
    if must_be_ours(target):
        say("An earlier demo is here: it is removed first.")
        target.show("delete", "namespace", NAMESPACE)
    target.apply(namespace())
    target = target.within(NAMESPACE)
    scenes.install_in_namespace(target, say, image=image)
    scenes.create_cluster(target, say)
    scenes.write_and_read(target, say)
    scenes.grow(target, say)
    scenes.lose_a_pod(target, say)
    scenes.upgrade(target, say)
    say("It goes on running. In your shell:")
    print(f"\nexport KUBECONFIG={kubeconfig}")
    print("\n".join(line.replace("kubectl", f"kubectl -n {NAMESPACE}") for line in TO_TRY))
    print(f"\nmake demo-down KUBECONFIG={kubeconfig}   removes it.")


def down_on_own_cluster(kubeconfig: Path) -> None:
    target = own_cluster(kubeconfig)
    consent(target, to=f"delete the namespace {NAMESPACE}, and nothing else")
    if not must_be_ours(target):
        print(f"There is no namespace {NAMESPACE} on this cluster: nothing to remove.")
        return
    target.show("delete", "namespace", NAMESPACE)
    print(f"The definitions stay. If nobody else uses them: {_remove_definitions(target)}")


def _remove_definitions(target: Target) -> str:
    return target.spelt("delete", "-f", "deploy/crds")


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
        sys.exit("Interrupted: `make demo` begins anew, `make demo-down` removes what there is.")


if __name__ == "__main__":
    main()
