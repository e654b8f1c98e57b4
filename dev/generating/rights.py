"""What the operator may do in Kubernetes, right by right and with the reason: roles and documentation are made of it.

The old operator asked for every verb on whole groups of resources. Here each verb is one that is used, and a right that
is needed for one object is given for its name alone, as far as Kubernetes can: whoever may create may create under any
name.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any

from etcd_operator.api.names import GROUP

Rule = dict[str, Any]

OPERATOR = "etcd-operator"  # also its lease, and the lock of the old operator
DEFINITION = f"etcdclusters.{GROUP}"


class Reach(enum.Enum):
    """Where a right is needed."""

    CLUSTERS = "where the clusters are"
    HOME = "in the operator's own namespace"
    NOWHERE = "in no namespace, unless `-create-crd=false`"


@dataclass(frozen=True, kw_only=True)
class Right:
    resource: str  # with a subresource after a slash, as roles spell it
    verbs: tuple[str, ...]
    reach: Reach
    why: str
    group: str = ""  # what Kubernetes calls the core
    names: tuple[str, ...] = ()  # of the only objects it is for

    @property
    def rule(self) -> Rule:
        rule = {"apiGroups": [self.group], "resources": [self.resource], "verbs": list(self.verbs)}
        return rule | ({"resourceNames": list(self.names)} if self.names else {})


KEPT = ("get", "list", "watch", "create", "patch")  # objects that the operator keeps as they should be

IN_CLUSTERS: tuple[Right, ...] = (
    Right(
        group=GROUP,
        resource="etcdclusters",
        verbs=("get", "list", "watch", "patch"),
        reach=Reach.CLUSTERS,
        why="What users want. Patched are annotations, never the spec.",
    ),
    Right(
        group=GROUP,
        resource="etcdclusters/status",
        verbs=("patch",),
        reach=Reach.CLUSTERS,
        why="How each cluster is.",
    ),
    Right(
        resource="pods",
        verbs=(*KEPT, "delete"),
        reach=Reach.CLUSTERS,
        why="The members. A new version may be patched in; the operator's own image is read from its own pod.",
    ),
    Right(
        resource="pods/status",
        verbs=("patch",),
        reach=Reach.CLUSTERS,
        why="The readiness gate: clients reach a member from then on, and no longer before it goes.",
    ),
    Right(
        resource="persistentvolumeclaims",
        verbs=(*KEPT, "delete"),
        reach=Reach.CLUSTERS,
        why="The members' disks. A larger size is patched in; a disk goes with its member.",
    ),
    Right(
        resource="services",
        verbs=KEPT,
        reach=Reach.CLUSTERS,
        why="One for clients, one for members. Kubernetes deletes them with their cluster.",
    ),
    Right(
        group="policy",
        resource="poddisruptionbudgets",
        verbs=KEPT,
        reach=Reach.CLUSTERS,
        why="A drain leaves a quorum in place.",
    ),
    Right(
        resource="secrets",
        verbs=("get",),
        reach=Reach.CLUSTERS,
        why="Certificates and logins that a cluster names. None is ever listed.",
    ),
    Right(
        group="events.k8s.io",
        resource="events",
        verbs=("create", "patch"),
        reach=Reach.CLUSTERS,
        why="What was done, for `kubectl describe`. Patched when it is done again.",
    ),
)

AT_HOME: tuple[Right, ...] = (
    Right(
        group="coordination.k8s.io",
        resource="leases",
        verbs=("create",),
        reach=Reach.HOME,
        why="Of several operators one acts. A right to create cannot be limited to a name.",
    ),
    Right(
        group="coordination.k8s.io",
        resource="leases",
        verbs=("get", "update"),
        names=(OPERATOR,),
        reach=Reach.HOME,
        why="Who acts, and a sign of life every few seconds.",
    ),
    Right(
        resource="endpoints",
        verbs=("get",),
        names=(OPERATOR,),
        reach=Reach.HOME,
        why="The lock of the archived operator: the two never work at the same time.",
    ),
)

IN_NO_NAMESPACE: tuple[Right, ...] = (
    Right(
        group="apiextensions.k8s.io",
        resource="customresourcedefinitions",
        verbs=("create",),
        reach=Reach.NOWHERE,
        why="The operator brings its CRD. A right to create cannot be limited to a name.",
    ),
    Right(
        group="apiextensions.k8s.io",
        resource="customresourcedefinitions",
        verbs=("get", "update"),
        names=(DEFINITION,),
        reach=Reach.NOWHERE,
        why="The operator keeps its CRD current, and no other.",
    ),
)

RIGHTS = IN_CLUSTERS + AT_HOME + IN_NO_NAMESPACE


def page() -> str:
    """The rights as a page of the documentation."""
    lines = [
        "# Rights of the operator",
        "",
        "What the operator may do, and why. `example/rbac` and `deploy` hold roles made of this table.",
    ]
    for reach in Reach:
        lines += [
            "",
            f"## {reach.value[0].upper()}{reach.value[1:]}",
            "",
            "| resource | verbs | why |",
            "|---|---|---|",
        ]
        lines += [_row(right) for right in RIGHTS if right.reach is reach]
    return "\n".join(lines) + "\n"


def _row(right: Right) -> str:
    group = f" of `{right.group}`" if right.group else ""
    named = f", only {' and '.join(f'`{name}`' for name in right.names)}" if right.names else ""
    return f"| `{right.resource}`{group}{named} | {', '.join(right.verbs)} | {right.why} |"
