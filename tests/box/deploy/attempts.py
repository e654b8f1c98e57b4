"""What the operator tries, from the table of rights, and what nobody should be able to do in its name."""

from __future__ import annotations

from dev.generating.rights import RIGHTS, Reach
from tests.box.deploy.access import Attempt


def _of(reach: Reach) -> tuple[Attempt, ...]:
    return tuple(
        Attempt(verb, right.resource, right.group, name)
        for right in RIGHTS
        if right.reach is reach
        for verb in right.verbs
        for name in right.names or ("",)
    )


WITH_CLUSTERS = _of(Reach.CLUSTERS)
AT_HOME = _of(Reach.HOME)
IN_NO_NAMESPACE = _of(Reach.NOWHERE)

NEVER = (
    Attempt("list", "secrets"),
    Attempt("watch", "secrets"),
    Attempt("create", "secrets"),
    Attempt("get", "configmaps"),
    Attempt("create", "pods/exec"),
    Attempt("create", "pods/ephemeralcontainers"),
    Attempt("create", "serviceaccounts/token"),
    Attempt("deletecollection", "pods"),
    Attempt("delete", "services"),
    Attempt("delete", "etcdclusters", "etcd.database.coreos.com"),
    Attempt("create", "etcdclusters", "etcd.database.coreos.com"),
    Attempt("update", "endpoints", name="etcd-operator"),
    Attempt("get", "endpoints", name="kubernetes"),
    Attempt("update", "leases", "coordination.k8s.io", "kube-scheduler"),
    Attempt("delete", "leases", "coordination.k8s.io", "etcd-operator"),
    Attempt("create", "deployments", "apps"),
    Attempt("create", "rolebindings", "rbac.authorization.k8s.io"),
    Attempt("impersonate", "users"),
)
NEVER_OUTSIDE = (
    Attempt("get", "nodes"),
    Attempt("patch", "nodes"),
    Attempt("delete", "nodes"),
    Attempt("get", "nodes/proxy"),
    Attempt("create", "clusterrolebindings", "rbac.authorization.k8s.io"),
    Attempt("create", "storageclasses", "storage.k8s.io"),
    Attempt("get", "customresourcedefinitions", "apiextensions.k8s.io", "certificates.cert-manager.io"),
    Attempt("delete", "customresourcedefinitions", "apiextensions.k8s.io", "etcdclusters.etcd.database.coreos.com"),
    Attempt("create", "namespaces"),
)
