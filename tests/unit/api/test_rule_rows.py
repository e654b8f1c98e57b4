"""No rule of the definitions is without a row that shows it at work; the API server judges the rows: tests/box/api."""

from __future__ import annotations

from collections.abc import Iterator

from tests.box.api.definitions import Node, nodes, schema_of, shipped
from tests.box.api.rules import ROWS, SWITCHES, Row

LIMITS = ("minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "maxProperties", "pattern", "enum")
SILENT = {"type", "format", "description", "default", "properties", "items", "additionalProperties"}
SILENT |= {f"x-kubernetes-{word}" for word in ("int-or-string", "list-type", "list-map-keys", "map-type")}
SPOKEN = {*LIMITS, "required", "x-kubernetes-validations"}
# Types of Kubernetes itself, which it checks again where a pod or a claim is made; see test_embedded.py.
EMBEDDED = (
    "spec.pod.affinity",
    "spec.pod.etcdEnv",
    "spec.pod.imagePullSecrets",
    "spec.pod.persistentVolumeClaimSpec",
    "spec.pod.resources",
    "spec.pod.securityContext",
    "spec.pod.tolerations",
    "spec.pod.topologySpreadConstraints",
)


def rules_in(node: Node) -> Iterator[str]:
    """What a place in a schema demands, in the words that rows cover it with."""
    yield from (f"{node.path} {limit}" for limit in LIMITS if limit in node.schema)
    yield from (f"{node.path} required {name}" for name in node.schema.get("required", ()))
    yield from (rule["message"] for rule in node.schema.get("x-kubernetes-validations", ()))


def uncovered(rows: tuple[Row, ...]) -> set[str]:
    found = set()
    for definition in shipped():
        kind = definition["spec"]["names"]["kind"]
        mine = [row for row in rows if row.kind == kind]
        named = {row.covers for row in mine}
        messages = [row.says for row in mine if not row.covers] + list(SWITCHES)
        for node in nodes(schema_of(definition)):
            if node.path.startswith((*EMBEDDED, "status")):
                continue
            for rule in rules_in(node):
                if rule not in named and not any(message in rule for message in messages):
                    found.add(f"{kind}: {rule}")
    return found


def test_no_rule_is_without_a_row() -> None:
    assert uncovered(ROWS) == set()


def test_a_rule_without_a_row_would_be_noticed() -> None:
    sizes = tuple(row for row in ROWS if row.covers != "spec.size maximum")
    paths = tuple(row for row in ROWS if "spec.gcs.path must be" not in row.says)

    assert "EtcdCluster: spec.size maximum" in uncovered(sizes)
    assert any("spec.gcs.path must be" in rule for rule in uncovered(paths))


def test_a_status_has_no_rule_that_could_stand_in_its_way() -> None:
    keys = {"status.conditions[] required type", "status.memberList[] required name"}  # entries are told apart by them
    for definition in shipped():
        for node in nodes(schema_of(definition)):
            if node.path.startswith("status"):
                assert [rule for rule in rules_in(node) if rule not in keys] == []


def test_no_schema_uses_a_word_that_this_walk_does_not_know() -> None:
    used = {word for definition in shipped() for node in nodes(schema_of(definition)) for word in node.schema}

    assert used - SILENT - SPOKEN == set()
