"""How a field is declared: beside its type, with everything that a user and the API server must know of it.

The declaration is an annotation of our own and none of msgspec's: msgspec would enforce ranges while decoding, which
would make an object unreadable that was stored before the range existed, and it drops what it is told inside an
optional type. Here the type says what can be read, and the declaration what the API server lets in.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

Schema = dict[str, Any]


class Change(Enum):
    """What happens when a field of a spec changes later; the sentence is part of its description."""

    LIVE = "Can change later; no member restarts."
    ROLLS = "Can change later; members restart with it, one at a time."
    JOINERS = "Can change later and then holds for members that join after that; none restarts."
    VOLUMES = (
        "Can change later: a larger request reaches the volumes there are, where their class lets them grow; "
        "the rest holds for members that join after that. None restarts."
    )
    INSIDE = "Can change later, as said at each field inside."
    RENAMED = (
        "Can name another secret later, and members restart with it one at a time; "
        "can be neither added nor removed once the cluster runs."
    )
    NEXT_RUN = "Can change later and then holds from the next backup on; no member restarts."
    EACH_RUN = "Read each time a backup or a restore begins; no member restarts."
    ONCE = "Read when the restore begins; a change after that has no effect."


@dataclass(frozen=True)
class Rule:
    """One CEL expression that must hold, and what the user reads when it does not."""

    expression: str
    message: str
    field_path: str | None = None

    def schema(self) -> Schema:
        where = {"fieldPath": self.field_path} if self.field_path else {}
        return {"rule": self.expression, "message": self.message, **where}


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What the API server checks by itself, without CEL."""

    minimum: int | None = None
    maximum: int | None = None
    min_length: int | None = None
    max_length: int | None = None
    min_items: int | None = None
    max_properties: int | None = None

    def schema(self) -> Schema:
        words = {
            "minimum": self.minimum,
            "maximum": self.maximum,
            "minLength": self.min_length,
            "maxLength": self.max_length,
            "minItems": self.min_items,
            "maxProperties": self.max_properties,
        }
        return {word: number for word, number in words.items() if number is not None}


@dataclass(frozen=True)
class Embedded:
    """A type of Kubernetes itself, which Python passes on as it is; its name there, and its schema."""

    name: str
    schema: Schema


@dataclass(frozen=True, kw_only=True)
class Field:
    """Everything about a field but its name and type.

    `text` begins with a sentence that says what the field does. `absent` says what holds without it, where the API
    server sets no default. `keys` are the fields by which the entries of a list are told apart.
    """

    text: str
    absent: str = ""
    change: Change | None = None
    limits: Limits = Limits()
    rules: tuple[Rule, ...] = ()
    embedded: Embedded | None = None
    keys: tuple[str, ...] = ()

    def description(self, *, default: str | None) -> str:
        """The whole text: what it does, what holds without it, what a change does."""
        without = default if default is not None else self.absent
        parts = (self.text, f"Default: {without}." if without else "", self.change.value if self.change else "")
        return " ".join(part for part in parts if part)
