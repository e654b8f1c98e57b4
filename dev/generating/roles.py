"""Roles and their bindings, from the table of rights: those of an installation, and the templates of `example/rbac`.

A role is read by whoever decides whether to trust an operator, so each rule stands under its reason.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from dev.generating import rights
from dev.generating.crds import WIDTH, Dumper
from dev.generating.rights import Right

Manifest = dict[str, Any]

NOTE = "# Generated from dev/generating by `make generate`.\n"
API_VERSION = "rbac.authorization.k8s.io/v1"
API_GROUP = "rbac.authorization.k8s.io"

EXAMPLES = Path("example/rbac")
PAGE = Path("docs/reference/rights.md")
ROLE_NAME, BINDING_NAME, NAMESPACE = "<ROLE_NAME>", "<ROLE_BINDING_NAME>", "<NAMESPACE>"

PLACEHOLDERS = {
    ROLE_NAME: "the role",
    BINDING_NAME: "its binding",
    NAMESPACE: "where the operator runs, as the account `default`",
}


def role(*, name: str, namespace: str | None = None) -> Manifest:
    """Without its rules; one for all namespaces unless one is named."""
    return {"apiVersion": API_VERSION, "kind": _scoped("Role", namespace), "metadata": _metadata(name, namespace)}


def binding(*, name: str, role: str, subject: Manifest, namespace: str | None = None) -> Manifest:
    return {
        "apiVersion": API_VERSION,
        "kind": _scoped("RoleBinding", namespace),
        "metadata": _metadata(name, namespace),
        "roleRef": {"apiGroup": API_GROUP, "kind": _scoped("Role", namespace), "name": role},
        "subjects": [subject],
    }


def account(name: str, namespace: str) -> Manifest:
    """An account as the subject of a binding; in a binding of its own namespace it need not name that."""
    return {"kind": "ServiceAccount", "name": name, **({"namespace": namespace} if namespace else {})}


def role_text(role: Mapping[str, Any], granted: Iterable[Right]) -> str:
    head = yaml.dump(dict(role), Dumper=Dumper, sort_keys=False, width=WIDTH)
    return head + "rules:\n" + "".join(_reason(right) + _rule(right) for right in granted)


def texts() -> dict[Path, str]:
    everything = rights.RIGHTS
    in_one_namespace = rights.IN_CLUSTERS + rights.AT_HOME
    subject = account("default", NAMESPACE)
    return {
        PAGE: rights.page(),
        EXAMPLES / "cluster-role-template.yaml": _head(
            "What the operator needs, in every namespace; create_role.sh fills this in.", ROLE_NAME
        )
        + role_text(role(name=ROLE_NAME), everything),
        EXAMPLES / "cluster-role-binding-template.yaml": _head(
            "Gives the cluster role to the operator; create_role.sh fills this in.", BINDING_NAME, ROLE_NAME, NAMESPACE
        )
        + _dumped(binding(name=BINDING_NAME, role=ROLE_NAME, subject=subject)),
        EXAMPLES / "role-template.yaml": _head(
            "What the operator needs in one namespace, for one that runs with -create-crd=false and not -cluster-wide.",
            ROLE_NAME,
            NAMESPACE,
        )
        + role_text(role(name=ROLE_NAME, namespace=NAMESPACE), in_one_namespace),
        EXAMPLES / "role-binding-template.yaml": _head(
            "Gives the role to the operator in the same namespace.", BINDING_NAME, ROLE_NAME, NAMESPACE
        )
        + _dumped(binding(name=BINDING_NAME, role=ROLE_NAME, subject=subject, namespace=NAMESPACE)),
    }


def _head(sentence: str, *placeholders: str) -> str:
    explained = "".join(f"#   {name:<19}  {PLACEHOLDERS[name]}\n" for name in placeholders)
    return f"# {sentence} To fill in:\n{explained}{NOTE}"


def _scoped(kind: str, namespace: str | None) -> str:
    return f"Cluster{kind}" if namespace is None else kind


def _metadata(name: str, namespace: str | None) -> Manifest:
    return {"name": name, **({"namespace": namespace} if namespace else {})}


def _dumped(manifest: Manifest) -> str:
    return yaml.dump(manifest, Dumper=Dumper, sort_keys=False, width=WIDTH)


def _reason(right: Right) -> str:
    return textwrap.indent(textwrap.fill(right.why, WIDTH - 2), "# ") + "\n"


def _rule(right: Right) -> str:
    return yaml.dump([right.rule], Dumper=Dumper, sort_keys=False, width=WIDTH, default_flow_style=None)
