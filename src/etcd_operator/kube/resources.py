"""Which path an object has in the Kubernetes API, for the kinds that the operator touches.

A table instead of discovery: discovery costs requests at every start, fails when any aggregated API is down, and would
only tell what is known here anyway. A kind that is not in the table is one `Resource(...)` away.
"""

from __future__ import annotations

from urllib.parse import quote

import msgspec


class Resource(msgspec.Struct, frozen=True):
    """A kind of objects, in one version of its API."""

    group: str  # "" for what Kubernetes calls the core
    version: str
    plural: str
    kind: str
    namespaced: bool = True

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    def path(self, *, namespace: str | None = None, name: str | None = None, subresource: str | None = None) -> str:
        """Of one object, or without a name of all in a namespace, or without either of all there are."""
        if self.namespaced and name and not namespace:
            raise ValueError(f"{self.kind} {name} lives in a namespace, and none was given")
        if not self.namespaced and namespace:
            raise ValueError(f"{self.plural} live in no namespace, and {namespace!r} was given")
        parts = ["/apis", self.group, self.version] if self.group else ["/api", self.version]
        if namespace:
            parts += ["namespaces", quote(namespace, safe="")]
        parts.append(self.plural)
        if name:
            parts.append(quote(name, safe=""))
        if subresource:
            parts.append(subresource)
        return "/".join(parts)


PODS = Resource(group="", version="v1", plural="pods", kind="Pod")
SERVICES = Resource(group="", version="v1", plural="services", kind="Service")
SECRETS = Resource(group="", version="v1", plural="secrets", kind="Secret")
ENDPOINTS = Resource(group="", version="v1", plural="endpoints", kind="Endpoints")
CONFIG_MAPS = Resource(group="", version="v1", plural="configmaps", kind="ConfigMap")
PERSISTENT_VOLUME_CLAIMS = Resource(
    group="", version="v1", plural="persistentvolumeclaims", kind="PersistentVolumeClaim"
)
NAMESPACES = Resource(group="", version="v1", plural="namespaces", kind="Namespace", namespaced=False)
NODES = Resource(group="", version="v1", plural="nodes", kind="Node", namespaced=False)
SERVICE_ACCOUNTS = Resource(group="", version="v1", plural="serviceaccounts", kind="ServiceAccount")
EVENTS = Resource(group="events.k8s.io", version="v1", plural="events", kind="Event")
LEASES = Resource(group="coordination.k8s.io", version="v1", plural="leases", kind="Lease")
POD_DISRUPTION_BUDGETS = Resource(
    group="policy", version="v1", plural="poddisruptionbudgets", kind="PodDisruptionBudget"
)
CUSTOM_RESOURCE_DEFINITIONS = Resource(
    group="apiextensions.k8s.io",
    version="v1",
    plural="customresourcedefinitions",
    kind="CustomResourceDefinition",
    namespaced=False,
)

_ETCD = "etcd.database.coreos.com"
ETCD_CLUSTERS = Resource(group=_ETCD, version="v1beta2", plural="etcdclusters", kind="EtcdCluster")
ETCD_BACKUPS = Resource(group=_ETCD, version="v1beta2", plural="etcdbackups", kind="EtcdBackup")
ETCD_RESTORES = Resource(group=_ETCD, version="v1beta2", plural="etcdrestores", kind="EtcdRestore")
