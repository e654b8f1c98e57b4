from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec
import pytest

from etcd_operator.api.field import Change, Embedded, Field, Limits, Rule
from etcd_operator.api.schema import string, table
from etcd_operator.api.stored import Part
from etcd_operator.api.structural import UndeclaredError, object_schema

TEXT = Field(text="A field.")
EVEN = Rule("self % 2 == 0", "must be even")
COLOUR = Embedded("Colour", table("A colour.", {"name": string("Its name.")}))


class Inner(Part, frozen=True):
    """An inner part."""

    RULES = (Rule("has(self.count)", "count is needed"),)

    count: Annotated[int | None, Field(text="How many.", limits=Limits(minimum=2), rules=(EVEN,))] = None


def schema_of(annotation: object, *default: object) -> dict[str, Any]:
    """The schema of a single field of this type."""
    made = msgspec.defstruct("Made", [("field", annotation, *default)], bases=(Part,))  # type: ignore[list-item]
    schema: dict[str, Any] = object_schema(made)["properties"]["field"]
    return schema


def test_rules_and_limits_of_an_optional_field_are_kept() -> None:
    made = object_schema(Inner)["properties"]["count"]

    assert made["minimum"] == 2
    assert made["x-kubernetes-validations"] == [{"rule": "self % 2 == 0", "message": "must be even"}]


def test_rules_of_a_type_and_of_the_field_that_holds_it_stand_together() -> None:
    rule = Rule("true", "of the field")
    made = schema_of(Annotated[Inner | None, Field(text="It.", rules=(rule,))], None)

    assert [found["message"] for found in made["x-kubernetes-validations"]] == ["count is needed", "of the field"]


def test_the_rules_of_entries_of_a_list_are_kept() -> None:
    made = schema_of(Annotated[tuple[Inner, ...] | None, TEXT], None)

    assert [found["message"] for found in made["items"]["x-kubernetes-validations"]] == ["count is needed"]
    assert made["items"]["description"] == "An inner part."


@pytest.mark.parametrize(
    "annotation",
    [
        int,
        int | None,
        Annotated[int, "a word"],
        Annotated[int, TEXT] | None,
        tuple[Annotated[int, TEXT], ...],
        Annotated[int, TEXT, TEXT],
    ],
)
def test_a_field_without_its_declaration_right_outside_is_refused(annotation: object) -> None:
    with pytest.raises(UndeclaredError, match=r"Made\.field"):
        schema_of(annotation)


@pytest.mark.parametrize(
    "kind", [float, int | str, Mapping[str, Any], Mapping[str, int], list[str], tuple[Annotated[int, TEXT], ...], Any]
)
def test_a_type_that_has_no_schema_is_refused(kind: object) -> None:
    with pytest.raises(UndeclaredError):
        schema_of(Annotated[kind, TEXT])


def test_only_a_default_that_says_something_is_left_to_the_server() -> None:
    assert schema_of(Annotated[int, TEXT], 0)["default"] == 0
    assert schema_of(Annotated[bool, TEXT], False)["description"] == "A field. Default: false."
    assert schema_of(Annotated[Literal["a", "b"], TEXT], "b")["default"] == "b"
    assert "default" not in schema_of(Annotated[str, TEXT], "")
    assert "default" not in schema_of(Annotated[int | None, TEXT], None)


def test_what_holds_without_a_field_and_what_a_change_does_is_told() -> None:
    declared = Field(text="How many.", absent="as many as needed", change=Change.LIVE)
    made = schema_of(Annotated[int | None, declared], None)

    assert made["description"] == "How many. Default: as many as needed. Can change later; no member restarts."


def test_a_type_of_kubernetes_has_the_schema_of_its_table_and_the_text_of_its_field() -> None:
    alone = schema_of(Annotated[Mapping[str, Any] | None, Field(text="The paint.", embedded=COLOUR)], None)
    listed = schema_of(Annotated[tuple[Mapping[str, Any], ...], Field(text="Paints.", embedded=COLOUR)])

    assert alone == {**COLOUR.schema, "description": "The paint."}
    assert listed["items"] == COLOUR.schema


def test_the_entries_of_a_list_are_told_apart_by_what_is_declared() -> None:
    atomic = schema_of(Annotated[tuple[str, ...], TEXT])
    keyed = schema_of(Annotated[tuple[Inner, ...], Field(text="Parts.", keys=("count",))])

    assert atomic["x-kubernetes-list-type"] == "atomic"
    assert keyed["x-kubernetes-list-map-keys"] == ["count"]
