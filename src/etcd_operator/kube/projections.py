"""The fields of built-in kinds that the operator looks at, and no others.

A pod as the API server sends it has some 10 kB of JSON, most of it the spec that the operator itself wrote and the list
of who owns which field. As dicts, a cache of 3000 would need 100 MB; of these it needs a tenth. What is not here can be
had with one `get` of the object.
"""

from __future__ import annotations

from typing import Any

import msgspec

from etcd_operator.kube.objects import Metadata


class _Fields(msgspec.Struct, frozen=True, rename="camel", gc=False):
    """Absent means default, as everywhere in Kubernetes.

    Decoded JSON has no cycles, so the garbage collector need not know of it, which saves both memory and its time.
    """


class Container(_Fields, frozen=True):
    name: str = ""
    image: str = ""


class ReadinessGate(_Fields, frozen=True):
    condition_type: str = ""


class ClaimReference(_Fields, frozen=True):
    claim_name: str = ""


class Volume(_Fields, frozen=True):
    persistent_volume_claim: ClaimReference | None = None


class PodSpec(_Fields, frozen=True):
    node_name: str = ""
    restart_policy: str = "Always"
    readiness_gates: tuple[ReadinessGate, ...] = ()
    volumes: tuple[Volume, ...] = ()
    containers: tuple[Container, ...] = ()


class Waiting(_Fields, frozen=True):
    reason: str = ""
    message: str = ""


class Running(_Fields, frozen=True):
    started_at: str | None = None


class Terminated(_Fields, frozen=True):
    exit_code: int = 0
    reason: str = ""
    message: str = ""
    finished_at: str | None = None


class ContainerState(_Fields, frozen=True):
    """One of the three, or none while nobody knows."""

    waiting: Waiting | None = None
    running: Running | None = None
    terminated: Terminated | None = None


class ContainerStatus(_Fields, frozen=True):
    name: str = ""
    ready: bool = False
    restart_count: int = 0
    image: str = ""
    state: ContainerState = ContainerState()
    last_state: ContainerState = ContainerState()


class PodCondition(_Fields, frozen=True):
    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""


class PodStatus(_Fields, frozen=True):
    phase: str = ""
    reason: str = ""
    message: str = ""
    pod_ip: str = msgspec.field(default="", name="podIP")
    conditions: tuple[PodCondition, ...] = ()
    init_container_statuses: tuple[ContainerStatus, ...] = ()
    container_statuses: tuple[ContainerStatus, ...] = ()


class Pod(_Fields, frozen=True):
    """What runs where, and how it is."""

    metadata: Metadata = Metadata()
    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()


class ClaimRequests(_Fields, frozen=True):
    storage: str = ""


class ClaimResources(_Fields, frozen=True):
    requests: ClaimRequests = ClaimRequests()


class ClaimSpec(_Fields, frozen=True):
    volume_name: str = ""
    storage_class_name: str | None = None
    resources: ClaimResources = ClaimResources()


class ClaimStatus(_Fields, frozen=True):
    phase: str = ""
    capacity: dict[str, str] = {}


class Claim(_Fields, frozen=True):
    """A PersistentVolumeClaim: which disk there is, and how large it really is."""

    metadata: Metadata = Metadata()
    spec: ClaimSpec = ClaimSpec()
    status: ClaimStatus = ClaimStatus()


class Secret(_Fields, frozen=True):
    """Its keys, each with its value as base64 text."""

    metadata: Metadata = Metadata()
    data: dict[str, str] = {}


class CustomObject(_Fields, frozen=True):
    """A custom resource whose spec and status are looked at later: an odd one must not be missing from the cache."""

    metadata: Metadata = Metadata()
    spec: Any = None
    status: Any = None
