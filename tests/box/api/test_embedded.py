"""The parts of a spec that are Kubernetes' own types: known as the server itself knows them, and kept as written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.box.api.definitions import nodes, refusal, schema_of, shipped
from tests.box.api.rules import good, with_value
from tests.box.driving import Box

Object = dict[str, Any]

CORE = "io.k8s.api.core.v1."
TYPES = {
    "affinity": "Affinity",
    "etcdEnv[]": "EnvVar",
    "imagePullSecrets[]": "LocalObjectReference",
    "persistentVolumeClaimSpec": "PersistentVolumeClaimSpec",
    "resources": "ResourceRequirements",
    "securityContext": "PodSecurityContext",
    "tolerations[]": "Toleration",
    "topologySpreadConstraints[]": "TopologySpreadConstraint",
}
AMOUNTS = ("limits{}", "requests{}", "divisor")
# A reference without a name refers to nothing; Kubernetes lets it pass for the sake of its own old objects.
STRICTER = {"imagePullSecrets[]": {("", "name")}}


def pod_policy() -> Object:
    [cluster] = [schema_of(made) for made in shipped() if made["spec"]["names"]["kind"] == "EtcdCluster"]
    policy: Object = cluster["properties"]["spec"]["properties"]["pod"]
    return policy


def at(schema: Object, place: str) -> Object:
    found: Object = schema["properties"][place.removesuffix("[]")]
    return found["items"] if place.endswith("[]") else found


@pytest.fixture(scope="module")
def core(box: Box) -> dict[str, Object]:
    """The server's own types by name."""
    found: dict[str, Object] = box.api.get("/openapi/v3/api/v1")["components"]["schemas"]
    return found


def resolved(schema: Object, core: dict[str, Object]) -> Object:
    """A type with those that it refers to written out where they stand."""
    reference = schema.get("$ref") or next((part["$ref"] for part in schema.get("allOf", ()) if "$ref" in part), None)
    if reference:
        return resolved(core[reference.rpartition("/")[2]], core)
    inner: Object = {}
    if "properties" in schema:
        inner["properties"] = {name: resolved(child, core) for name, child in schema["properties"].items()}
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            inner[key] = resolved(schema[key], core)
    return schema | inner


def kinds(schema: Object) -> dict[str, str]:
    """What is at each place: a type by its JSON name, or an amount, which may be a number or a text."""
    return {node.path: node.schema.get("type", "amount") for node in nodes(schema)}


def demands(schema: Object) -> Iterator[tuple[str, str]]:
    yield from ((node.path, name) for node in nodes(schema) for name in node.schema.get("required", ()))


@pytest.mark.parametrize("place", TYPES)
def test_every_field_of_kubernetes_is_known_with_its_type(core: dict[str, Object], place: str) -> None:
    theirs = resolved(core[CORE + TYPES[place]], core)

    assert kinds(at(pod_policy(), place)) == {
        path: "amount" if path.endswith(AMOUNTS) else kind for path, kind in kinds(theirs).items()
    }


@pytest.mark.parametrize("place", TYPES)
def test_what_kubernetes_demands_is_demanded_at_once_and_not_when_a_pod_is_made(
    core: dict[str, Object], place: str
) -> None:
    theirs = set(demands(resolved(core[CORE + TYPES[place]], core)))

    assert set(demands(at(pod_policy(), place))) == theirs | STRICTER.get(place, set())


@pytest.mark.parametrize("amount", ["2", 2, "500m", "1.5Gi", "1e3", "12E", "+4", "0.5"])
def test_an_amount_is_whatever_kubernetes_takes_for_one(box: Box, amount: object) -> None:
    assert amounts_refused(box, amount) == ""


@pytest.mark.parametrize("nonsense", ["lots", "1 Gi", "5GiB", "", "1.2.3", "m"])
def test_what_is_no_amount_is_refused_where_it_stands(box: Box, nonsense: str) -> None:
    said = amounts_refused(box, nonsense)

    assert "spec.pod.resources.requests.memory in body should match" in said
    assert "spec.pod.persistentVolumeClaimSpec.resources.requests.storage in body should match" in said


def test_a_fraction_must_be_a_text(box: Box) -> None:
    """Kubernetes takes a bare 0.5 in a pod, but no schema of a custom resource can: whole numbers or texts."""
    assert "spec.pod.resources.requests.memory in body must be of type integer,string" in amounts_refused(box, 0.5)


def amounts_refused(box: Box, amount: object) -> str:
    asked = with_value(good("EtcdCluster"), "spec.pod.resources.requests", {"memory": amount})
    both = with_value(asked, "spec.pod.persistentVolumeClaimSpec.resources.requests", {"storage": amount})
    return refusal(box, both)
