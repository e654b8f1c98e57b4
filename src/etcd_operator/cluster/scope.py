"""Which clusters are this operator's: an operator for all namespaces and those for one each may share a Kubernetes.

The annotation is the old operator's. One for all namespaces looks after what says so, one for a single namespace after
what says nothing; an object with any other value is nobody's.
"""

from __future__ import annotations

from etcd_operator.api.names import GROUP
from etcd_operator.kube.store import Named

SCOPE = f"{GROUP}/scope"
CLUSTER_WIDE = "clusterwide"


def in_scope(obj: Named, *, cluster_wide: bool) -> bool:
    said = obj.metadata.annotations.get(SCOPE)
    return said == CLUSTER_WIDE if cluster_wide else said is None
