"""The files that install the operator as a whole: one for every namespace, one for a single namespace.

No CRD is in them: `kubectl delete -f` takes away what a file brought, and with a CRD would go every cluster and its
data. The first lets the operator bring its CRD itself, as it always did, and gives it its rights in all namespaces,
but what it needs only at home in its own. The second holds nothing outside a namespace and names none: it goes where
`kubectl -n` says. Nothing has a generated name, so both can be applied again, by hand or by GitOps.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from dev.generating import operator_pods, rights, roles
from dev.generating.crds import WIDTH, Dumper
from dev.generating.rights import OPERATOR
from etcd_operator.api import admission
from etcd_operator.api.admission import Advice, Policy
from etcd_operator.api.names import GROUP

Manifest = dict[str, Any]

EVERYWHERE = Path("deploy/install.yaml")
ONE_NAMESPACE = Path("deploy/install-namespaced.yaml")
HEADS = {
    EVERYWHERE: "# The operator for all namespaces: kubectl apply -f deploy/install.yaml\n",
    ONE_NAMESPACE: (
        "# The operator for one namespace: kubectl apply -n NAMESPACE -f deploy/install-namespaced.yaml\n"
        "# Before it: kubectl apply -f deploy/crds\n"
    ),
}
CLUSTER_WIDE = f"{OPERATOR}-cluster-wide"  # not the name that example/rbac/create_role.sh gives to a role of its own
LABEL = "rbac.authorization.k8s.io/aggregate-to-"

SCOPE = f"{GROUP}/scope"
UNSEEN = Advice(
    name="scope",
    reading=f"?metadata.?annotations[?'{SCOPE}'].orValue('')",
    fine="variables.scope == 'clusterwide'",
    sentence=(
        f"The annotation {SCOPE} is not `clusterwide`: the operator for all namespaces leaves this cluster alone, and "
        f"unless another runs in this very namespace nothing will happen. Set {SCOPE}: clusterwide."
    ),
)


def texts() -> dict[Path, str]:
    return {
        EVERYWHERE: _file(EVERYWHERE, everywhere()),
        ONE_NAMESPACE: _file(ONE_NAMESPACE, one_namespace()),
    }


def everywhere() -> list[str]:
    """One document each, in the order in which each finds what it needs."""
    account = roles.account(OPERATOR, OPERATOR)
    granted = rights.IN_CLUSTERS + rights.IN_NO_NAMESPACE
    unseen = Policy("etcd-scope-advice", "etcdclusters", (UNSEEN,))
    return [
        _text(namespace()),
        _text(service_account(OPERATOR)),
        roles.role_text(roles.role(name=CLUSTER_WIDE), granted),
        _text(roles.binding(name=CLUSTER_WIDE, role=CLUSTER_WIDE, subject=account)),
        roles.role_text(roles.role(name=OPERATOR, namespace=OPERATOR), rights.AT_HOME),
        _text(roles.binding(name=OPERATOR, role=OPERATOR, subject=account, namespace=OPERATOR)),
        *map(_text, people()),
        *map(_text, running(OPERATOR, ("-cluster-wide",))),
        *map(_text, admission.manifests()),
        _text(admission.policy_manifest(unseen)),
        _text(admission.binding(unseen)),
    ]


def one_namespace() -> list[str]:
    here = ""
    account = roles.account(OPERATOR, here)
    return [
        _text(service_account(here)),
        roles.role_text(roles.role(name=OPERATOR, namespace=here), rights.IN_CLUSTERS + rights.AT_HOME),
        _text(roles.binding(name=OPERATOR, role=OPERATOR, subject=account, namespace=here)),
        *map(_text, running(here, ("-create-crd=false",))),
    ]


def namespace() -> Manifest:
    """Nothing but what the strictest profile of Kubernetes allows runs in it."""
    return {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": OPERATOR, "labels": {"pod-security.kubernetes.io/enforce": "restricted"}},
    }


def service_account(namespace: str) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": operator_pods.metadata(OPERATOR, namespace),
    }


def running(namespace: str, arguments: tuple[str, ...]) -> list[Manifest]:
    return [
        operator_pods.metrics_service(namespace),
        operator_pods.disruption_budget(namespace),
        operator_pods.deployment(namespace=namespace, arguments=arguments),
    ]


def people() -> list[Manifest]:
    """Whoever may view or edit a namespace may do so with the clusters in it, too."""
    reading = ["get", "list", "watch"]
    changing = ["create", "delete", "deletecollection", "patch", "update"]
    return [
        _for_people("view", reading, resources=["etcdclusters", "etcdclusters/status", "etcdclusters/scale"]),
        _for_people("edit", changing, resources=["etcdclusters", "etcdclusters/scale"]),
    ]


def _for_people(may: str, verbs: list[str], *, resources: list[str]) -> Manifest:
    labels = {f"{LABEL}{role}": "true" for role in ("view", "edit", "admin") if may == "view" or role != "view"}
    return {
        "apiVersion": roles.API_VERSION,
        "kind": "ClusterRole",
        "metadata": {"name": f"etcdclusters-{may}", "labels": labels},
        "rules": [{"apiGroups": [GROUP], "resources": resources, "verbs": verbs}],
    }


def _text(manifest: Manifest) -> str:
    return yaml.dump(manifest, Dumper=Dumper, sort_keys=False, width=WIDTH, allow_unicode=True)


def _file(path: Path, documents: list[str]) -> str:
    return HEADS[path] + roles.NOTE + "---\n".join(documents)
