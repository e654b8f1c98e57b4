"""The reference pages of the documentation, in Markdown, from the same types and rows as the CRDs.

A page has a section for each of our own types. What belongs to Kubernetes is named and not repeated: everybody who
needs an affinity has met it in a pod, and `kubectl explain` shows the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from etcd_operator.api.condition import Meaning
from etcd_operator.api.event import EventMeaning
from etcd_operator.api.field import Field, Schema
from etcd_operator.api.kinds import Column, Kind
from etcd_operator.api.names import API_VERSION
from etcd_operator.api.structural import declaration, field_schema, item_type, rules_of, without_none

BOUNDS = {
    "minimum": "At least {}.",
    "maximum": "At most {}.",
    "minLength": "At least {} character.",
    "maxLength": "At most {} characters.",
    "minItems": "At least {} entry.",
    "maxProperties": "At most {} entries.",
}


def page(kind: Kind) -> str:
    parts = [
        f"# {kind.name}",
        (kind.type.__doc__ or "").strip(),
        how_to_find(kind),
        *name_section(kind),
        *object_section(kind.type, path=""),
        "## Columns",
        columns_table(kind.columns),
        "## Conditions",
        conditions_table(kind.conditions),
        *events_section(kind.events),
    ]
    return "\n\n".join(parts) + "\n"


def how_to_find(kind: Kind) -> str:
    return (
        f"`apiVersion: {API_VERSION}`, `kind: {kind.name}`. `kubectl get {kind.short}` lists them, and\n"
        f"`kubectl explain {kind.short}.spec` shows the texts below, `--recursive` the names of all fields."
    )


def name_section(kind: Kind) -> list[str]:
    return ["## metadata.name", plain(str(kind.name_limits["description"]))] if kind.name_limits else []


def object_section(struct: type[msgspec.Struct], *, path: str) -> Iterator[str]:
    """The fields of a type as a table, its rules, and then a section for each type inside."""
    rows, inner = [], []
    for field in msgspec.structs.fields(struct):
        if not path and field.name == "metadata":
            continue
        bare, declared = declaration(struct, field)
        schema = field_schema(struct, field)
        below = ".".join(part for part in (path, field.encode_name) if part)
        rows.append(field_row(field, below, schema=schema, declared=declared))
        if (part := struct_in(bare)) is not None:
            inner.append((part, below))
    if path:
        yield f"## {path}"
        yield table(("Field", "Type", "What it is"), rows)
    elif rules_of(struct):
        yield "## Rules"
    if rules := rules_of(struct):
        yield "\n".join(("Refused by the API server:\n", *(f"- {plain(rule.message)}." for rule in rules)))
    for part, below in inner:
        yield from object_section(part, path=below)


def field_row(field: msgspec.structs.FieldInfo, path: str, *, schema: Schema, declared: Field) -> tuple[str, str, str]:
    needed = " (needed)" if field.required else ""
    said = [schema["description"], *limits(schema)]
    rules = [f"Rule: {rule.message}." for rule in declared.rules]
    return f"`{field.encode_name}`{needed}", type_name(schema, declared, path), plain(" ".join((*said, *rules)))


def limits(schema: Schema) -> Iterator[str]:
    if "enum" in schema:
        yield f"One of {', '.join(schema['enum'])}."
    yield from (text.format(schema[word]) for word, text in BOUNDS.items() if word in schema)


def type_name(schema: Schema, declared: Field, path: str) -> str:
    """What stands in the column of types; a type of ours is a link to its section."""
    if schema["type"] == "array":
        words = entry_name(schema["items"], declared)
        return f"list of {words}" if words else f"[list](#{anchor(path)})"
    return entry_name(schema, declared) or f"[object](#{anchor(path)})"


def entry_name(schema: Schema, declared: Field) -> str:
    if declared.embedded:
        return f"Kubernetes' {declared.embedded.name}"
    if "additionalProperties" in schema:
        return "map of string"
    return "" if schema["type"] == "object" else str(schema["type"])


def struct_in(bare: object) -> type[msgspec.Struct] | None:
    """The type of ours that a field holds, alone or as a list."""
    kind = item_type(without_none(bare))
    return kind if isinstance(kind, type) and issubclass(kind, msgspec.Struct) else None


def columns_table(columns: Iterable[Column]) -> str:
    rows = [(column.name.upper(), column.text, "`-o wide` only" if column.wide else "") for column in columns]
    return table(("Column", "What it shows", ""), rows)


def conditions_table(conditions: Iterable[Meaning]) -> str:
    rows = []
    for meaning in conditions:
        rows.append((f"**{meaning.type}**", "", f"True means: {meaning.true}."))
        rows += [("", f"`{reason}`", f"{text}.") for reason, text in meaning.reasons.items()]
    return table(("Condition", "Reason", "Meaning"), rows)


def events_section(events: Iterable[EventMeaning]) -> list[str]:
    rows = [(f"`{event.reason}`", "Warning" if event.warning else "", f"{event.text}.") for event in events]
    return ["## Events", table(("Reason", "", "What has happened"), rows)] if rows else []


def table(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [heads, tuple("---" for _ in heads), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def plain(text: str) -> str:
    """Text that Markdown leaves as it is."""
    for sign, written in (("<", "&lt;"), (">", "&gt;"), ("*", r"\*"), ("|", r"\|")):
        text = text.replace(sign, written)
    return text


def anchor(path: str) -> str:
    """What a heading of this path is called in a link."""
    return "".join(letter for letter in path.lower() if letter.isalnum() or letter in "_-")
