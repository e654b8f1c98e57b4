"""Command lines as the old programs took them: flags of Go, with one dash or two.

People carry such lines in their manifests: `-cluster-wide`, `--create-crd=false`, `-listen-addr :8080`. So the words
are put into the one form that click reads without doubt, `--name=value`, and click does the rest: types, defaults and
help.

One thing is stricter than it was. Go stops at the first word that belongs to no flag and passes over whatever follows,
so that `-cluster-wide false -create-crd=false` meant the opposite of what it says. Here that is a mistake, and told.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

import click

TRUE = frozenset({"1", "t", "T", "TRUE", "true", "True"})
FALSE = frozenset({"0", "f", "F", "FALSE", "false", "False"})

HELP = frozenset({"h", "help"})


@dataclass(frozen=True)
class RetiredFlag:
    """A flag that lines in use may still have, and that does nothing any more."""

    name: str
    sentence: str  # what a user who still gives it is told
    boolean: bool = False


def parsed(words: Iterable[str], boolean: Mapping[str, bool]) -> list[tuple[str, str]]:
    """The flags of a command line with their values, in its order; UsageError for what cannot be understood.

    `boolean` has every flag there is, and whether it is one that stands alone.
    """
    rest = iter(words)
    return [_flag(word, rest, boolean) for word in rest]


def _flag(word: str, rest: Iterator[str], boolean: Mapping[str, bool]) -> tuple[str, str]:
    if not word.startswith("-") or word in ("-", "--"):
        raise click.UsageError(
            f"{word!r} belongs to no flag. "
            "The value of a boolean flag stands behind an equals sign, as in -cluster-wide=false."
        )
    name, equals, value = word.removeprefix("-").removeprefix("-").partition("=")
    if not name or name.startswith("-"):
        raise click.UsageError(f"{word!r} is no flag: a name with one dash or two before it is expected.")
    if name in HELP:
        return "help", "true"
    if name not in boolean:
        raise click.UsageError(f"There is no flag -{name}; --help lists those that there are.")
    if boolean[name]:
        return name, _truth(name, value) if equals else "true"
    if equals:
        return name, value
    try:
        return name, next(rest)
    except StopIteration:
        raise click.UsageError(f"The flag -{name} needs a value.") from None


def _truth(name: str, value: str) -> str:
    if value in TRUE:
        return "true"
    if value in FALSE:
        return "false"
    raise click.UsageError(f"-{name} is either true or false, and not {value!r}.")


class GoCommand(click.Command):
    """A command whose words are Go's."""

    retired: ClassVar[tuple[RetiredFlag, ...]] = ()

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        options = {name.lstrip("-"): option for option in self._options() for name in option.opts}
        retired = {flag.name: flag for flag in self.retired}
        boolean = {name: _is_boolean(option) for name, option in options.items()}
        given = parsed(args, boolean | {name: flag.boolean for name, flag in retired.items()})
        ctx.obj = tuple(flag for name, flag in retired.items() if name in dict(given))
        words = (_word(name, value, options.get(name)) for name, value in given if name not in retired)
        return super().parse_args(ctx, [word for word in words if word])

    def _options(self) -> Iterator[click.Option]:
        return (option for option in self.params if isinstance(option, click.Option))


def _is_boolean(option: click.Option) -> bool:
    return option.is_flag or isinstance(option.type, click.types.BoolParamType)


def _word(name: str, value: str, option: click.Option | None) -> str:
    """What click is given; `option` is None for --help, which is click's own."""
    if option is None or option.is_flag:
        return f"--{name}" if value == "true" else ""
    return f"--{name}={value}"


def retired_flags(context: click.Context) -> tuple[RetiredFlag, ...]:
    """What the command line has that does nothing any more."""
    found: tuple[RetiredFlag, ...] = context.obj
    return found
