"""An EtcdCluster on the box, as its user and its owner see it: spec, status, pods, events, and its data."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any

from box.kube.api import ApiError
from tests.box.cluster.console import Console
from tests.box.driving import Box, Object, eventually

API_VERSION = "etcd.database.coreos.com/v1beta2"
SCOPE = "etcd.database.coreos.com/scope"
CLUSTER_WIDE = {SCOPE: "clusterwide"}

SETTLED = 180.0  # seconds; most operations take 5 to 20


def manifest(name: str, namespace: str, spec: Object, *, annotations: dict[str, str]) -> Object:
    metadata = {"name": name, "namespace": namespace, "annotations": annotations}
    return {"apiVersion": API_VERSION, "kind": "EtcdCluster", "metadata": metadata, "spec": spec}


class Cluster:
    """`tell` says what the operator has to say about it, for a test that fails."""

    def __init__(self, box: Box, namespace: str, name: str, *, tell: Callable[[], str] = str) -> None:
        self.box = box
        self.namespace = namespace
        self.name = name
        self._tell = tell

    # What a user does.

    def change(self, **spec: Any) -> None:
        """`None` takes a field away."""
        self.box.api.patch(self.path, {"spec": spec})

    def scale(self, size: int) -> None:
        self.box.kubectl("scale", "etcd", self.name, "-n", self.namespace, f"--replicas={size}")

    def delete(self) -> None:
        self.box.kubectl("delete", "etcd", self.name, "-n", self.namespace, "--wait=true")

    def delete_pod(self, name: str, *, at_once: bool = False) -> None:
        grace = ("--grace-period=0", "--force") if at_once else ()
        self.box.kubectl("delete", "pod", name, "-n", self.namespace, "--wait=false", *grace)

    # What there is to see.

    @property
    def path(self) -> str:
        return f"/apis/{API_VERSION}/namespaces/{self.namespace}/etcdclusters/{self.name}"

    @property
    def stored(self) -> Object:
        return self.box.api.get(self.path)

    @property
    def status(self) -> Object:
        found: Object = self.stored.get("status", {})
        return found

    def condition(self, kind: str) -> Object:
        found = (each for each in self.status.get("conditions", ()) if each["type"] == kind)
        return next(found, {"status": "", "reason": "", "message": ""})

    @property
    def ready(self) -> list[str]:
        """The names of members that serve."""
        names: list[str] = self.status.get("members", {}).get("ready") or []
        return names

    @property
    def pods(self) -> dict[str, Object]:
        """By name, those on their way out included."""
        path = f"/api/v1/namespaces/{self.namespace}/pods"
        found = self.box.api.list(path, labels=f"app=etcd,etcd_cluster={self.name}")
        return {pod["metadata"]["name"]: pod for pod in found}

    @property
    def claims(self) -> dict[str, Object]:
        path = f"/api/v1/namespaces/{self.namespace}/persistentvolumeclaims"
        found = self.box.api.list(path, labels=f"app=etcd,etcd_cluster={self.name}")
        return {claim["metadata"]["name"]: claim for claim in found}

    @property
    def events(self) -> list[tuple[str, str]]:
        """Reason and note of each, in the order of their names."""
        found = self.box.api.list(f"/apis/events.k8s.io/v1/namespaces/{self.namespace}/events")
        return [(each["reason"], each.get("note", "")) for each in found if each["regarding"]["name"] == self.name]

    @property
    def reasons(self) -> set[str]:
        return {reason for reason, _ in self.events}

    def node_of(self, member: str) -> str:
        node: str = self.pods[member]["spec"]["nodeName"]
        return node

    def uids(self) -> dict[str, str]:
        return {name: pod["metadata"]["uid"] for name, pod in self.pods.items()}

    def restarts(self) -> dict[str, int]:
        return {name: restart_count(pod) for name, pod in self.pods.items()}

    # Waiting.

    def settled(self, *, without: Iterable[str] = (), within: float = SETTLED) -> list[str]:
        """Until everything is as the spec asks, and status and pods agree on it; the names of the members."""
        gone = set(without)
        members: list[str] = self.until(lambda: self._as_wanted(gone), within=within)
        return members

    def until(self, claim: Callable[[], Any], *, within: float = SETTLED) -> Any:
        """As `eventually`, and tells the whole story if the claim never holds."""
        try:
            return eventually(_patient(claim), within=within, pause=0.25)
        except Exception as error:
            raise AssertionError(f"{error}\n{self.story()}") from error

    def _as_wanted(self, gone: set[str]) -> list[str]:
        stored, pods = self.stored, self.pods
        spec, status = stored["spec"], stored.get("status", {})
        ready = status.get("members", {}).get("ready") or []
        state = self.condition("Ready")
        assert status.get("observedGeneration") == stored["metadata"]["generation"], "the spec was not looked at"
        assert state["status"] == "True", f"Ready is {state['status']}: {state['message']}"
        assert len(ready) == spec["size"], f"{len(ready)} of {spec['size']} ready"
        assert set(ready) == set(pods), f"members {ready}, pods {sorted(pods)}"
        assert not gone & set(ready), f"{gone & set(ready)} should be gone"
        assert all(is_ready(pod) for pod in pods.values()), "a pod is not ready"
        if wanted := spec.get("version"):
            assert status.get("currentVersion") == wanted.lstrip("v")
        return sorted(ready)

    def story(self) -> str:
        """Everything that explains what happened."""
        shown = ["", f"--- {self.namespace}/{self.name}"]
        try:
            shown += [json.dumps(self.status, indent=1), "--- pods"]
            shown += [self.box.kubectl("get", "pods", "-n", self.namespace, "-o", "wide"), "--- events"]
            shown += [self.box.kubectl("get", "events", "-n", self.namespace, "--sort-by=.metadata.creationTimestamp")]
        except (ApiError, AssertionError, OSError) as error:
            shown.append(f"could not be had: {error}")
        return "\n".join([*shown, "--- operator", self._tell()])

    # Its data.

    @cached_property
    def console(self) -> Console:
        return self.console_as(None)

    def console_as(self, login: tuple[str, str] | None) -> Console:
        service = self.box.get("service", f"{self.name}-client", self.namespace)
        way: dict[str, Any] = {"address": f"{service['spec']['clusterIP']}:2379", "login": login}
        static = self.stored["spec"].get("TLS", {}).get("static", {})
        if secret := static.get("operatorSecret"):
            stored = self.box.get("secret", secret, self.namespace)["data"]
            parts = {"ca": "etcd-client-ca.crt", "certificate": "etcd-client.crt", "key": "etcd-client.key"}
            way["tls"] = {part: base64.b64decode(stored[key]).decode() for part, key in parts.items()}
            way["door"] = f"{self.name}-client.{self.namespace}.svc"
        return Console(self.box, way)

    def put(self, key: str, value: str) -> None:
        self.console.put(key, value)

    def get(self, key: str) -> str | None:
        return self.console.get(key)

    def voters(self) -> list[str]:
        """As etcd lists them."""
        return sorted(one.name for one in self.console.members() if not one.learner)

    def member_status(self, member: str) -> dict[str, Any]:
        address = self.pods[member]["status"]["podIP"]
        return self.console.status(address, f"{member}.{self.name}.{self.namespace}.svc")

    def leader(self) -> str:
        """By what the members themselves say."""

        def found() -> str:
            return next((name for name in self.pods if self.member_status(name)["leads"]), "")

        return str(self.until(found, within=30))

    def close(self) -> None:
        if "console" in self.__dict__:
            self.console.close()


def _patient(claim: Callable[[], Any]) -> Callable[[], Any]:
    """The API server may be away, and what is asked for not be there yet."""

    def asked() -> Any:
        try:
            return claim()
        except ApiError as error:
            raise AssertionError(str(error)) from error

    return asked


def is_ready(pod: Object) -> bool:
    conditions = pod["status"].get("conditions", ())
    ready = any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)
    return ready and "deletionTimestamp" not in pod["metadata"]


def restart_count(pod: Object) -> int:
    return sum(int(each["restartCount"]) for each in pod["status"].get("containerStatuses", ()))
