"""What the API server says beside its yes: warnings for an object that is allowed and still worth a second thought.

The rules of the CRDs refuse what cannot work. An even size, members without a volume or a field with a better successor
do work, and are what many people wrote for the old operator; so a policy with the action Warn speaks instead, in
kubectl and in every client that shows warnings, and nothing is ever held up by it: not by a mistake in an expression
either (`failurePolicy: Ignore`).

A warning comes with the request that brings its cause in. Later writes, by GitOps or by the operator, are silent, or
people would learn not to look. Status writes are another resource and are not looked at. `kubectl scale` sends a Scale
instead of the cluster, hence a policy of its own. A field that only v1beta1 had cannot be warned about here: the server
drops what the schema does not know before any policy sees it, and kubectl says so by itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from etcd_operator.api.names import GROUP, VERSION

Manifest = dict[str, Any]

_API_VERSION = "admissionregistration.k8s.io/v1"


@dataclass(frozen=True)
class Advice:
    """One thing worth saying: fact, consequence, what to do instead. `reading`, `fine` and `in_numbers` are CEL.

    `reading` is what comes after `object.` and takes the value to judge, whatever the object leaves out; `fine` judges
    it as `variables.<name>`; `in_numbers` is the sentence that names it, for which `sentence` stands in if need be.
    """

    name: str
    reading: str
    fine: str
    sentence: str
    in_numbers: str = ""


@dataclass(frozen=True)
class Policy:
    name: str
    resource: str
    advice: tuple[Advice, ...]


def even_size(reading: str) -> Advice:
    """Of a size of 4 it says: 1, 3, 3, 2, 3 and 5."""
    size = "variables.size"
    parts = (
        "'spec.size is '",
        f"string({size})",
        "': it survives the loss of '",
        f"string(({size} - 1) / 2)",
        "', no more than a size of '",
        f"string({size} - 1)",
        "' does, but '",
        f"string({size} / 2 + 1)",
        "' members instead of '",
        f"string({size} / 2)",
        "' must answer every write. Choose '",
        f"string({size} - 1)",
        "' or '",
        f"string({size} + 1)",
        "'.'",
    )
    return Advice(
        name="size",
        reading=reading,
        fine=f"{size} % 2 == 1 || {size} == 0",
        sentence="spec.size is even: it survives the loss of no more members than one less does. Choose an odd size.",
        in_numbers=" + ".join(parts),
    )


NO_VOLUME = Advice(
    name="claimed",
    reading="?spec.?pod.?persistentVolumeClaimSpec.hasValue()",
    fine="variables.claimed",
    sentence=(
        "spec.pod.persistentVolumeClaimSpec is not set: each member keeps its data in an emptyDir, which is gone when "
        "its pod is, and once most members have lost theirs only a backup brings the data back. "
        "Set it, or back the cluster up with an EtcdBackup."
    ),
)

ANTI_AFFINITY = Advice(
    name="antiAffinity",
    reading="?spec.?pod.?antiAffinity.orValue(false)",
    fine="!variables.antiAffinity",
    sentence=(
        "spec.pod.antiAffinity is deprecated: it knows one rule only, no two members on a node, and does nothing "
        "beside spec.pod.affinity. Write the rule you want as spec.pod.affinity.podAntiAffinity, with the label "
        "etcd_cluster and a topology key such as kubernetes.io/hostname."
    ),
)

POLICIES: tuple[Policy, ...] = (
    Policy("etcd-cluster-advice", "etcdclusters", (even_size("?spec.?size.orValue(0)"), NO_VOLUME, ANTI_AFFINITY)),
    Policy("etcd-scale-advice", "etcdclusters/scale", (even_size("?spec.?replicas.orValue(0)"),)),
)


def manifests() -> list[Manifest]:
    """Each policy with the binding that puts it to work in every namespace."""
    return [manifest for policy in POLICIES for manifest in (policy_manifest(policy), binding(policy))]


def policy_manifest(policy: Policy) -> Manifest:
    rule = {
        "apiGroups": [GROUP],
        "apiVersions": [VERSION],
        "operations": ["CREATE", "UPDATE"],
        "resources": [policy.resource],
    }
    return {
        "apiVersion": _API_VERSION,
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": policy.name},
        "spec": {
            "failurePolicy": "Ignore",
            "matchConstraints": {"resourceRules": [rule]},
            "variables": [variable for advice in policy.advice for variable in _variables(advice)],
            "validations": [_validation(advice) for advice in policy.advice],
        },
    }


def binding(policy: Policy) -> Manifest:
    return {
        "apiVersion": _API_VERSION,
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": policy.name},
        "spec": {"policyName": policy.name, "validationActions": ["Warn"]},
    }


def _variables(advice: Advice) -> list[dict[str, str]]:
    before = f"oldObject != null && oldObject.{advice.reading} == variables.{advice.name}"
    return [
        {"name": advice.name, "expression": f"object.{advice.reading}"},
        {"name": f"{advice.name}AsBefore", "expression": before},
    ]


def _validation(advice: Advice) -> dict[str, str]:
    validation = {"expression": f"{advice.fine} || variables.{advice.name}AsBefore", "message": advice.sentence}
    return validation | ({"messageExpression": advice.in_numbers} if advice.in_numbers else {})
