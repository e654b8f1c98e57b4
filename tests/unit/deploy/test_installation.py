"""What the installation files hold fits together; that Kubernetes takes it and it works, tests/box/deploy shows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from box.layout import REPOSITORY
from dev.generating.rights import RIGHTS, Reach
from etcd_operator.api import admission

Object = dict[str, Any]

FILES = ("install.yaml", "install-namespaced.yaml")
TODAY = {
    "Namespace": "v1",
    "ServiceAccount": "v1",
    "Service": "v1",
    "ClusterRole": "rbac.authorization.k8s.io/v1",
    "ClusterRoleBinding": "rbac.authorization.k8s.io/v1",
    "Role": "rbac.authorization.k8s.io/v1",
    "RoleBinding": "rbac.authorization.k8s.io/v1",
    "PodDisruptionBudget": "policy/v1",
    "Deployment": "apps/v1",
    "ValidatingAdmissionPolicy": "admissionregistration.k8s.io/v1",
    "ValidatingAdmissionPolicyBinding": "admissionregistration.k8s.io/v1",
}
IN_NO_NAMESPACE = {kind for kind in TODAY if kind.startswith(("Cluster", "Validating"))} | {"Namespace"}


def objects(file: str) -> list[Object]:
    return [found for found in yaml.safe_load_all((REPOSITORY / "deploy" / file).read_text()) if found]


def of_kind(file: str, *kinds: str) -> Iterator[Object]:
    return (found for found in objects(file) if found["kind"] in kinds)


def the(file: str, kind: str) -> Object:
    [found] = of_kind(file, kind)
    return found


def pod_of(file: str) -> Object:
    pod: Object = the(file, "Deployment")["spec"]["template"]["spec"]
    return pod


@pytest.mark.parametrize("file", FILES)
def test_every_object_is_of_todays_version_of_its_api(file: str) -> None:
    assert {(found["kind"], found["apiVersion"]) for found in objects(file)} <= set(TODAY.items())


@pytest.mark.parametrize("file", FILES)
def test_no_two_objects_are_the_same_and_each_has_its_name(file: str) -> None:
    names = [(found["kind"], found["metadata"]["name"]) for found in objects(file)]

    assert len(names) == len(set(names))


@pytest.mark.parametrize("file", FILES)
def test_deleting_what_was_installed_deletes_no_definition(file: str) -> None:
    assert "CustomResourceDefinition" not in {found["kind"] for found in objects(file)}


def test_one_file_is_for_its_own_namespace_which_comes_first() -> None:
    first, *others = objects("install.yaml")

    assert (first["kind"], first["metadata"]["name"]) == ("Namespace", "etcd-operator")
    assert {found["metadata"].get("namespace") for found in others if found["kind"] not in IN_NO_NAMESPACE} == {
        "etcd-operator"
    }


def test_the_other_goes_where_kubectl_is_told_and_touches_nothing_else() -> None:
    found = objects("install-namespaced.yaml")

    assert not IN_NO_NAMESPACE & {each["kind"] for each in found}
    assert not [each for each in found if "namespace" in each["metadata"]]
    assert the("install-namespaced.yaml", "RoleBinding")["subjects"] == [
        {"kind": "ServiceAccount", "name": "etcd-operator"}
    ]


@pytest.mark.parametrize("file", FILES)
def test_the_operator_runs_as_the_account_that_has_the_roles(file: str) -> None:
    account = the(file, "ServiceAccount")["metadata"]["name"]
    bindings = list(of_kind(file, "RoleBinding", "ClusterRoleBinding"))
    roles = {(role["kind"], role["metadata"]["name"]) for role in of_kind(file, "Role", "ClusterRole")}

    assert pod_of(file)["serviceAccountName"] == account
    assert {subject["name"] for binding in bindings for subject in binding["subjects"]} == {account}
    assert {(binding["roleRef"]["kind"], binding["roleRef"]["name"]) for binding in bindings} <= roles


def test_what_is_needed_at_home_is_given_at_home_only() -> None:
    everywhere = next(of_kind("install.yaml", "ClusterRole"))
    home = the("install.yaml", "Role")

    assert everywhere["rules"] == [right.rule for right in RIGHTS if right.reach is not Reach.HOME]
    assert home["rules"] == [right.rule for right in RIGHTS if right.reach is Reach.HOME]


def test_the_operator_of_one_namespace_has_no_right_outside_it_and_is_told_so() -> None:
    [container] = pod_of("install-namespaced.yaml")["containers"]

    assert "-create-crd=false" in container["command"]
    assert "-cluster-wide" not in container["command"]
    assert the("install-namespaced.yaml", "Role")["rules"] == [
        right.rule for right in RIGHTS if right.reach is not Reach.NOWHERE
    ]


@pytest.mark.parametrize("file", FILES)
def test_budget_service_and_deployment_mean_the_same_pods(file: str) -> None:
    deployment = the(file, "Deployment")["spec"]
    labels = deployment["template"]["metadata"]["labels"]

    assert deployment["selector"]["matchLabels"].items() <= labels.items()
    assert the(file, "PodDisruptionBudget")["spec"]["selector"]["matchLabels"].items() <= labels.items()
    assert the(file, "Service")["spec"]["selector"].items() <= labels.items()


@pytest.mark.parametrize("file", FILES)
def test_a_drain_can_go_on_and_leaves_an_operator(file: str) -> None:
    replicas = the(file, "Deployment")["spec"]["replicas"]
    spared = the(file, "PodDisruptionBudget")["spec"]["maxUnavailable"]

    assert 0 < spared < replicas


@pytest.mark.parametrize("file", FILES)
def test_probes_and_metrics_go_to_a_port_that_the_container_has(file: str) -> None:
    [container] = pod_of(file)["containers"]
    ports = {port["name"] for port in container["ports"]}
    asked = {container[probe]["httpGet"]["port"] for probe in ("livenessProbe", "readinessProbe")}

    assert asked | {port["targetPort"] for port in the(file, "Service")["spec"]["ports"]} <= ports


@pytest.mark.parametrize("file", FILES)
def test_resources_are_asked_for_and_cpu_is_never_throttled(file: str) -> None:
    [container] = pod_of(file)["containers"]

    assert set(container["resources"]["requests"]) == {"cpu", "memory"}
    assert set(container["resources"]["limits"]) == {"memory"}


def test_the_advice_comes_along() -> None:
    shipped = list(of_kind("install.yaml", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"))

    assert [each for each in admission.manifests() if each not in shipped] == []
    assert {each["metadata"]["name"] for each in shipped} == {
        "etcd-cluster-advice",
        "etcd-scale-advice",
        "etcd-scope-advice",
    }


def test_no_policy_of_the_installation_refuses_anything() -> None:
    actions = [
        found["spec"]["validationActions"] for found in of_kind("install.yaml", "ValidatingAdmissionPolicyBinding")
    ]
    failing = [found["spec"]["failurePolicy"] for found in of_kind("install.yaml", "ValidatingAdmissionPolicy")]

    assert set(map(tuple, actions)) == {("Warn",)}
    assert set(failing) == {"Ignore"}


def test_people_who_may_view_may_not_change() -> None:
    viewing = [
        role
        for role in of_kind("install.yaml", "ClusterRole")
        if "rbac.authorization.k8s.io/aggregate-to-view" in role["metadata"].get("labels", {})
    ]

    assert [{*rule["verbs"]} for role in viewing for rule in role["rules"]] == [{"get", "list", "watch"}]
