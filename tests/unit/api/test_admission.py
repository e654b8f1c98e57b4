"""The policies are only ever advice. What they say, and when, the API server shows: tests/box/api/test_warnings.py."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from box.layout import REPOSITORY
from etcd_operator.api.admission import POLICIES, Advice, Policy, manifests

Object = dict[str, Any]

EVERY_ADVICE = [advice for policy in POLICIES for advice in policy.advice]


def of_kind(kind: str) -> list[Object]:
    return [manifest for manifest in manifests() if manifest["kind"] == kind]


def rules_of(policy: Object) -> list[Object]:
    rules: list[Object] = policy["spec"]["matchConstraints"]["resourceRules"]
    return rules


def test_every_policy_is_put_to_work_by_a_binding_of_its_name() -> None:
    names = [policy["metadata"]["name"] for policy in of_kind("ValidatingAdmissionPolicy")]
    bound = [binding["spec"]["policyName"] for binding in of_kind("ValidatingAdmissionPolicyBinding")]

    assert names == bound == ["etcd-cluster-advice", "etcd-scale-advice"]


def test_the_shipped_file_says_what_the_policies_say() -> None:
    assert list(yaml.safe_load_all((REPOSITORY / "deploy/admission/advice.yaml").read_text())) == manifests()


def test_nothing_is_ever_refused() -> None:
    assert [binding["spec"]["validationActions"] for binding in of_kind("ValidatingAdmissionPolicyBinding")] == [
        ["Warn"],
        ["Warn"],
    ]


def test_a_mistake_in_an_expression_holds_nobody_up() -> None:
    assert {policy["spec"]["failurePolicy"] for policy in of_kind("ValidatingAdmissionPolicy")} == {"Ignore"}


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.name)
def test_a_policy_looks_at_its_one_resource_so_at_no_status_write(policy: Policy) -> None:
    [manifest] = [each for each in of_kind("ValidatingAdmissionPolicy") if each["metadata"]["name"] == policy.name]
    [rule] = rules_of(manifest)

    assert rule["resources"] == [policy.resource]
    assert "*" not in policy.resource
    assert not policy.resource.endswith("/status")


@pytest.mark.parametrize("advice", EVERY_ADVICE, ids=lambda advice: advice.name)
def test_no_reading_fails_on_a_field_that_is_left_out(advice: Advice) -> None:
    """Each step into the object is an optional one, and the end says what an absent value counts as."""
    steps, _, _ = advice.reading.partition("(")
    *fields, end = steps.split(".")

    assert all(field.startswith("?") for field in fields)
    assert end in {"orValue", "hasValue"}


@pytest.mark.parametrize("advice", EVERY_ADVICE, ids=lambda advice: advice.name)
def test_a_sentence_begins_with_the_field_and_ends_with_what_to_do(advice: Advice) -> None:
    assert advice.sentence.startswith("spec.")
    assert any(order in advice.sentence for order in (" Choose ", " Set ", " Write "))
    assert "\n" not in advice.sentence + advice.in_numbers


def test_the_policies_look_at_the_kinds_of_this_api() -> None:
    rules = [rule for policy in of_kind("ValidatingAdmissionPolicy") for rule in rules_of(policy)]

    assert {(*rule["apiGroups"], *rule["apiVersions"]) for rule in rules} == {("etcd.database.coreos.com", "v1beta2")}
