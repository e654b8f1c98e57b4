"""`example/rbac` gives the operator what it needs, and nothing that it does not."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.box.deploy.access import account, allowed, refused
from tests.box.deploy.attempts import AT_HOME, IN_NO_NAMESPACE, NEVER, NEVER_OUTSIDE, WITH_CLUSTERS
from tests.box.deploy.shell import Shell
from tests.box.driving import Box, eventually

SCRIPT = "example/rbac/create_role.sh"

# As the archived operator's script left it.
OLD_ROLE = """
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: ROLE}
rules:
- {apiGroups: [etcd.database.coreos.com], resources: [etcdclusters, etcdbackups, etcdrestores], verbs: ["*"]}
- {apiGroups: [apiextensions.k8s.io], resources: [customresourcedefinitions], verbs: ["*"]}
- {apiGroups: [""], resources: [pods, services, endpoints, persistentvolumeclaims, events], verbs: ["*"]}
- {apiGroups: [apps], resources: [deployments], verbs: ["*"]}
- {apiGroups: [""], resources: [secrets], verbs: [get]}
"""


@pytest.fixture
def names(box: Box, namespace: str) -> Iterator[dict[str, str]]:
    """Roles of the test's own, by the variables that the script knows."""
    yield {"ROLE_NAME": namespace, "ROLE_BINDING_NAME": f"{namespace}-binding", "NAMESPACE": namespace}
    box.kubectl("delete", "clusterrolebinding", f"{namespace}-binding", "--ignore-not-found")
    box.kubectl("delete", "clusterrole", namespace, "--ignore-not-found")


def test_after_the_script_the_operator_may_do_its_work_everywhere(
    box: Box, reader: Shell, namespace: str, names: dict[str, str]
) -> None:
    operator = account("default", namespace)
    assert allowed(box, operator, WITH_CLUSTERS + AT_HOME, namespace=namespace) == []

    reader(SCRIPT, **names)

    eventually(lambda: refused(box, operator, WITH_CLUSTERS, namespace="default") == [], within=20)
    assert refused(box, operator, WITH_CLUSTERS + AT_HOME, namespace=namespace) == []
    assert refused(box, operator, IN_NO_NAMESPACE) == []


def test_and_nothing_else(box: Box, reader: Shell, namespace: str, names: dict[str, str]) -> None:
    reader(SCRIPT, **names)
    operator = account("default", namespace)
    eventually(lambda: refused(box, operator, WITH_CLUSTERS, namespace=namespace) == [], within=20)

    assert allowed(box, operator, NEVER, namespace=namespace) == []
    assert allowed(box, operator, NEVER, namespace="kube-system") == []
    assert allowed(box, operator, NEVER_OUTSIDE) == []


def test_options_win_over_variables_and_name_what_is_made(
    box: Box, reader: Shell, namespace: str, names: dict[str, str]
) -> None:
    options = f"--role-name={namespace} --role-binding-name={namespace}-binding --namespace={namespace}"
    said = reader(f"{SCRIPT} {options}", ROLE_NAME="unused", ROLE_BINDING_NAME="unused", NAMESPACE="unused")

    assert f"clusterrole.rbac.authorization.k8s.io/{namespace} created" in said
    assert f"clusterrolebinding.rbac.authorization.k8s.io/{namespace}-binding created" in said


def test_it_can_be_run_again_and_replaces_the_rights_of_the_old_operator(
    box: Box, reader: Shell, namespace: str, names: dict[str, str]
) -> None:
    box.kubectl("create", "-f", "-", given=OLD_ROLE.replace("ROLE", namespace))
    operator = account("default", namespace)

    reader(SCRIPT, **names)
    again = reader(SCRIPT, **names)

    assert again.count("unchanged") == 2
    eventually(lambda: refused(box, operator, WITH_CLUSTERS, namespace=namespace) == [], within=20)
    assert allowed(box, operator, NEVER, namespace=namespace) == []


def test_the_role_templates_are_enough_for_one_namespace_and_good_for_no_other(
    box: Box, reader: Shell, namespace: str
) -> None:
    fill = f"sed -e 's/<ROLE_NAME>/mine/' -e 's/<ROLE_BINDING_NAME>/mine/' -e 's/<NAMESPACE>/{namespace}/'"
    for template in ("role-template.yaml", "role-binding-template.yaml"):
        reader(f"{fill} example/rbac/{template} | kubectl apply --validate=strict -f -")
    operator = account("default", namespace)

    eventually(lambda: refused(box, operator, WITH_CLUSTERS + AT_HOME, namespace=namespace) == [], within=20)
    assert allowed(box, operator, NEVER, namespace=namespace) == []
    assert allowed(box, operator, WITH_CLUSTERS + AT_HOME, namespace="default") == []
    assert allowed(box, operator, IN_NO_NAMESPACE + NEVER_OUTSIDE) == []
