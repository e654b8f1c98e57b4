"""The provisioner of the box's two storage classes: `python3 -m box.volume.provisioner HOME NAME`.

A program of our own, because the usual one for local disks can neither grow a volume nor limit its size. It watches
claims and volumes, decides by `claims`, and has the work done on the nodes by `volumes`. It keeps nothing: killed at
any point and started again, it sees what is there and goes on.
"""

from __future__ import annotations

import os
import sys
import threading
import time
import traceback
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from box import control
from box.kube.api import Api, ApiError, Object
from box.kube.events import event, record
from box.layout import REPOSITORY, BoxError, Layout
from box.progress import Say
from box.volume.claims import (
    SELECTED_NODE,
    Grow,
    Make,
    Refuse,
    Remove,
    Step,
    decide,
    grown_status,
    node_of,
    persistent_volume,
    removable,
    volume_name,
)
from box.volume.seen import CLAIMS, VOLUMES, Seen
from box.volume.work import Work

WORKERS = 4
SWEEP_SECONDS = 600.0
NODE_SECONDS = 60.0


class Disks(Protocol):
    """How things are done on a node: an action of `box.volume.volumes`, and what it printed."""

    def __call__(self, node: str, *action: str) -> str: ...


class Provisioner:
    """Follows the claims of a cluster."""

    def __init__(self, api: Api, disks: Disks, *, say: Say) -> None:
        self._api, self._disks, self._say = api, disks, say
        self._seen, self._work = Seen(), Work()
        self._synced = threading.Event()

    def run(self) -> None:
        """Work until the process ends."""
        tasks: list[Callable[[], None]] = [self._watch_claims, self._watch_volumes, self._sweep]
        for task in tasks + [self._labour] * WORKERS:
            threading.Thread(target=_to_the_end, args=(task,), daemon=True).start()
        threading.Event().wait()

    def look_at(self, name: str) -> None:
        """Do the next step for one volume, if there is one."""
        step = decide(*self._seen.pair(name))
        if step is not None:
            self._do(step)

    def _do(self, step: Step) -> None:
        match step:
            case Make():
                self._make(step)
            case Grow():
                self._grow(step)
            case Remove():
                self._remove(step)
            case Refuse():
                self._tell(step.claim, "ProvisioningFailed", step.why, warning=True)

    def _make(self, step: Make) -> None:
        name = volume_name(step.claim)
        size = ("--size", str(step.bytes)) if step.kind.sized else ()
        try:
            self._disks(step.node, "make", name, *size)
        except BoxError as error:
            why = f"No volume of {step.size} on {step.node}, so the scheduler is asked to choose again: {error}"
            self._tell(step.claim, "ProvisioningFailed", why, warning=True)
            self._choose_again(step)
            return
        storage_class = self._api.get(
            f"/apis/storage.k8s.io/v1/storageclasses/{step.claim['spec']['storageClassName']}"
        )
        try:
            made = self._api.create(VOLUMES, persistent_volume(step, reclaim=storage_class["reclaimPolicy"]))
        except ApiError as error:
            if not error.exists:
                raise
            made = self._api.get(f"{VOLUMES}/{name}")
        self._seen.put(VOLUMES, name, made)
        self._disks(step.node, "settle", name)
        self._tell(step.claim, "ProvisioningSucceeded", f"Made volume {name} of {step.size} on {step.node}.")

    def _choose_again(self, step: Make) -> None:
        path = "/metadata/annotations/" + SELECTED_NODE.replace("/", "~1")
        change: list[Object] = [{"op": "test", "path": path, "value": step.node}, {"op": "remove", "path": path}]
        try:
            self._api.patch(_claim_path(step.claim), change)
        except ApiError as error:
            if error.status not in (404, 422):  # gone, or changed since: then it is looked at anyway
                raise

    def _grow(self, step: Grow) -> None:
        name = volume_name(step.claim)
        try:
            if step.kind.sized:
                self._disks(step.node, "grow", name, "--size", str(step.bytes))
        except BoxError as error:
            why = f"The volume has not grown to {step.size} yet and is tried again: {error}"
            self._tell(step.claim, "VolumeResizeFailed", why, warning=True)
            raise
        self._api.patch(f"{VOLUMES}/{name}", {"spec": {"capacity": {"storage": step.size}}})
        self._api.patch(f"{_claim_path(step.claim)}/status", grown_status(step))
        self._tell(step.claim, "VolumeResizeSuccessful", f"The volume has {step.size} now.")

    def _remove(self, step: Remove) -> None:
        metadata = step.volume["metadata"]
        name, path = metadata["name"], f"{VOLUMES}/{metadata['name']}"
        try:
            now = self._api.get(path)
            if now["metadata"]["uid"] != metadata["uid"] or not removable(now):
                return
        except ApiError as error:
            if not error.not_found:
                raise
        try:
            self._disks(step.node, "remove", name)
        except BoxError as error:
            if self._node_exists(step.node):
                why = f"The volume is not deleted yet and is tried again: {error}"
                self._tell(step.volume, "VolumeFailedDelete", why, warning=True)
                raise
        self._api.delete(path, uid=metadata["uid"])
        self._seen.clean(name)
        self._say(f"{name} removed")

    def _node_exists(self, node: str) -> bool:
        try:
            self._api.get(f"/api/v1/nodes/{node}")
        except ApiError as error:
            if error.not_found:
                return False
            raise
        return True

    def _labour(self) -> None:
        while True:
            name = self._work.take()
            failed = False
            try:
                self.look_at(name)
            except BoxError as error:
                failed = True
                self._say(f"{name}: {error}")
            finally:
                self._work.done(name, failed=failed)

    def _watch_claims(self) -> None:
        self._watch(CLAIMS, volume_name)

    def _watch_volumes(self) -> None:
        self._watch(VOLUMES, lambda volume: str(volume["metadata"]["name"]))

    def _watch(self, path: str, name_of: Callable[[Object], str]) -> None:
        for change in self._api.watch(path):
            if change.kind == "RESET":
                for name in self._seen.replace(path, {name_of(obj): obj for obj in change.objects}):
                    self._work.add(name)
                if path == CLAIMS:
                    self._synced.set()
                continue
            name = name_of(change.object)
            self._seen.put(path, name, change.object)
            if change.kind == "DELETED":
                self._seen.drop(path, name)
            self._work.add(name)

    def _sweep(self) -> None:
        """Remove what a provisioner that was killed had begun for a claim that is gone since."""
        self._synced.wait()
        while True:
            try:
                for node in self._api.list("/api/v1/nodes"):
                    self._sweep_node(node["metadata"]["name"])
            except BoxError as error:
                self._say(f"sweep: {error}")
            time.sleep(SWEEP_SECONDS)

    def _sweep_node(self, node: str) -> None:
        try:
            names = self._disks(node, "unclaimed").split()
        except BoxError:
            return
        for name in names:
            claim, _ = self._seen.pair(name)
            try:
                volume: Object | None = self._api.get(f"{VOLUMES}/{name}")
            except ApiError as error:
                if not error.not_found:
                    raise
                volume = None
            if volume is not None and node_of(volume) == node:
                self._disks(node, "settle", name)
            elif volume is not None or claim is None:
                self._disks(node, "remove", name)

    def _tell(self, about: Object, reason: str, message: str, *, warning: bool = False) -> None:
        self._say(f"{about['metadata']['name']}: {reason}: {message}")
        try:
            record(self._api, event(about, reason, message, warning=warning, now=datetime.now(UTC)))
        except ApiError as error:
            self._say(f"event not recorded: {error}")


def node_disks(layout: Layout) -> Disks:
    """Do it on the real nodes, through the room."""

    def act(node: str, *action: str) -> str:
        argv = ["env", f"PYTHONPATH={REPOSITORY}", sys.executable, "-m", "box.volume.volumes", *action]
        code, output = control.run_in_node(layout, node, argv, timeout=NODE_SECONDS)
        if code:
            raise BoxError(output.strip() or f"{action[0]} ended with code {code}")
        return output.strip()

    return act


def _log(text: str) -> None:
    """Write a line in one piece, as several threads do."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _claim_path(claim: Object) -> str:
    metadata = claim["metadata"]
    return f"/api/v1/namespaces/{metadata['namespace']}/persistentvolumeclaims/{metadata['name']}"


def _to_the_end(task: Callable[[], None]) -> None:
    """Run a thread that should never end; if it does, so does the program, which is started again."""
    try:
        task()
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(1)


def main(arguments: list[str]) -> int:
    home, name = arguments
    layout = Layout(Path(home), name)
    try:
        Provisioner(Api.from_kubeconfig(layout.inner_kubeconfig), node_disks(layout), say=_log).run()
    except BoxError as error:
        print(error)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
