"""No rule that stands beside a type may be missing from the CRDs, wherever in the annotation somebody wrote it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, get_args, get_type_hints

import msgspec

from etcd_operator.api.field import Field, Rule
from etcd_operator.api.kinds import KINDS
from etcd_operator.api.stored import Part
from tests.unit.api.schemas import nodes, roots


def written(struct: type[msgspec.Struct]) -> Iterator[Any]:
    """Everything that stands in the annotations of a struct, however deep."""
    hints = get_type_hints(struct, include_extras=True)
    waiting = [hints[field.name] for field in msgspec.structs.fields(struct) if field.name != "metadata"]
    while waiting:
        found = waiting.pop()
        yield found
        waiting.extend(getattr(found, "__metadata__", ()))
        waiting.extend(get_args(found))


def fields(struct: type[msgspec.Struct]) -> Iterator[Field | type[msgspec.Struct]]:
    """The struct and all that are inside it, and what is declared of their fields."""
    yield struct
    for found in {id(found): found for found in written(struct)}.values():
        if isinstance(found, Field):
            yield found
        elif isinstance(found, type) and issubclass(found, Part):
            yield from fields(found)


def declared(struct: type[msgspec.Struct]) -> Iterator[Rule]:
    for found in fields(struct):
        yield from found.rules if isinstance(found, Field) else getattr(found, "RULES", ())


def emitted(kind: str) -> Iterator[tuple[str, str]]:
    for _, node in nodes(roots()[kind]):
        yield from ((made["rule"], made["message"]) for made in node.get("x-kubernetes-validations", ()))


def test_as_many_rules_are_in_the_definitions_as_stand_beside_the_types() -> None:
    for kind in KINDS:
        expected = Counter((rule.expression, rule.message) for rule in declared(kind.type))
        assert expected.total() > 3
        assert Counter(emitted(kind.name)) == expected


def test_as_many_limits_are_in_the_definitions_as_stand_beside_the_types() -> None:
    words = {"minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "maxProperties"}
    for kind in KINDS:
        found = [field.limits.schema() for field in fields(kind.type) if isinstance(field, Field)]
        inside = [node for path, node in nodes(roots()[kind.name]) if not path.startswith("metadata")]
        expected = Counter(limit for limits in found for limit in limits.items())
        assert expected
        assert Counter((word, node[word]) for node in inside for word in words & set(node)) == expected


def test_every_part_with_rules_is_reached_from_a_kind() -> None:
    parts, waiting = set[type[Part]](), list(Part.__subclasses__())
    while waiting:
        parts.add(part := waiting.pop())
        waiting.extend(part.__subclasses__())
    own = [part for part in parts if part.__module__.startswith("etcd_operator.api")]
    beside_types = {rule.message for part in own for rule in declared(part)}
    in_definitions = {message for kind in KINDS for _, message in emitted(kind.name)}

    assert beside_types
    assert beside_types <= in_definitions


def test_every_message_names_the_field_it_is_about() -> None:
    messages = [message for kind in KINDS for _, message in emitted(kind.name)]

    assert [message for message in messages if "spec." not in message] == []
