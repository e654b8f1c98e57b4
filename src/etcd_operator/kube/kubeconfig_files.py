"""Kubeconfig files, found and merged as kubectl does it.

Several files (KUBECONFIG is a list of paths) are one: what an earlier file says stands, entries go by their names, and
files that are not there are passed over. Every entry remembers its file: paths in it are relative to that file, and a
message about it has to say where to look. Only the entries in use are ever judged, so a broken one harms nobody else.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import yaml

from etcd_operator.kube.errors import ConfigurationError

S = TypeVar("S", bound=msgspec.Struct)
_SECTIONS = {"clusters": "cluster", "users": "user", "contexts": "context"}


class Entry(msgspec.Struct, frozen=True):
    """What one file says about one cluster, user or context."""

    kind: str
    name: str
    file: Path
    content: dict[str, Any]

    def read(self, into: type[S]) -> S:
        try:
            return msgspec.convert(_without_nulls(self.content), type=into)
        except msgspec.ValidationError as problem:
            raise self.error(str(problem)) from problem

    def error(self, problem: str) -> ConfigurationError:
        return ConfigurationError(f"{self.kind} {self.name!r} in {self.file}: {problem}")

    def beside(self, path: str) -> Path:
        """A path as the file means it."""
        return self.file.parent / Path(path).expanduser() if path.startswith("~") else self.file.parent / path


class Kubeconfig(msgspec.Struct, frozen=True):
    """All files as one."""

    files: tuple[Path, ...]
    current_context: str
    entries: dict[tuple[str, str], Entry]

    def context(self, name: str | None) -> Entry:
        there = ", ".join(sorted(repr(known) for kind, known in self.entries if kind == "context")) or "none"
        chosen = name or self.current_context
        if not chosen:
            raise ConfigurationError(f"{self} has no current-context; contexts in it: {there}")
        found = self.entries.get(("context", chosen))
        if found is None:
            raise ConfigurationError(f"there is no context {chosen!r} in {self}; contexts in it: {there}")
        return found

    def entry(self, kind: str, name: str, *, wanted_by: Entry) -> Entry:
        found = self.entries.get((kind, name))
        if found is None:
            raise wanted_by.error(f"it names the {kind} {name!r}, which is not in {self}")
        return found

    def __str__(self) -> str:
        return ", ".join(map(str, self.files))


def paths(environment: Mapping[str, str]) -> tuple[Path, ...]:
    """Where kubectl would look."""
    listed = [Path(part) for part in environment.get("KUBECONFIG", "").split(os.pathsep) if part]
    return tuple(dict.fromkeys(listed)) or (Path(environment.get("HOME", "~")).expanduser() / ".kube" / "config",)


def read(files: Sequence[Path]) -> Kubeconfig:
    contents = {file: content for file in files if (content := _read(file)) is not None}
    if not contents:
        named = ", ".join(map(str, files))
        raise ConfigurationError(f"there is no kubeconfig at {named}; say where it is with KUBECONFIG")
    entries: dict[tuple[str, str], Entry] = {}
    for file, content in contents.items():
        for entry in _entries(file, content):
            entries.setdefault((entry.kind, entry.name), entry)
    current = next((str(found) for one in contents.values() if (found := one.get("current-context"))), "")
    return Kubeconfig(tuple(contents), current, entries)


def _read(file: Path) -> dict[str, Any] | None:
    """What it holds; None if it is not there."""
    try:
        content = yaml.safe_load(file.read_text())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ConfigurationError(f"the kubeconfig {file} cannot be read: {error.strerror}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        # Where, and not what: the parser's own words quote the line, and there may be a password in it.
        mark = error.problem_mark if isinstance(error, yaml.MarkedYAMLError) else None
        place = f": see line {mark.line + 1}, column {mark.column + 1}" if mark is not None else ""
        raise ConfigurationError(f"the kubeconfig {file} is not YAML{place}") from None
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise ConfigurationError(f"the kubeconfig {file} holds a {type(content).__name__} instead of a mapping")
    return content


def _entries(file: Path, content: dict[str, Any]) -> list[Entry]:
    found = []
    for section, kind in _SECTIONS.items():
        listed = content.get(section) or []
        if not isinstance(listed, list):
            raise ConfigurationError(f"{section} in {file} is not a list")
        for item in listed:
            if not isinstance(item, dict) or "name" not in item or not isinstance(item.get(kind) or {}, dict):
                raise ConfigurationError(
                    f"{section} in {file}: each needs a name and a {kind}, and one does not have them"
                )
            found.append(Entry(kind, str(item["name"]), file, item.get(kind) or {}))
    return found


def _without_nulls(value: Any) -> Any:  # noqa: ANN401 - whatever YAML can say
    if isinstance(value, dict):
        return {str(key): _without_nulls(item) for key, item in value.items() if item is not None}
    return [_without_nulls(item) for item in value] if isinstance(value, list) else value
