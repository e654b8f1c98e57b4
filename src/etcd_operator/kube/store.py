"""The objects of one kind as last seen, and what each news makes of them.

A store never acts: lists and watch events go in, differences come out. It is told of whole lists as well as of single
changes, because a watch has gaps and what was deleted in a gap is known only by its absence from the next list. The
name of an object may pass to another one: a new UID is the end of one object and the beginning of another, never a
change.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Generic, NamedTuple, Protocol, TypeVar

from etcd_operator.kube.objects import Metadata


class Named(Protocol):
    """Whatever has metadata: each projection of a Kubernetes object."""

    @property
    def metadata(self) -> Metadata: ...


T = TypeVar("T", bound=Named)
T_co = TypeVar("T_co", bound=Named, covariant=True)


class Key(NamedTuple):
    """What an object is called; the namespace is empty for what lives in none."""

    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


class Difference(NamedTuple, Generic[T_co]):
    """One object that came (no `old`), changed, or went (no `new`)."""

    old: T_co | None
    new: T_co | None

    @property
    def object(self) -> T_co:
        """As it is, or as it last was."""
        found = self.new if self.new is not None else self.old
        if found is None:
            raise ValueError("a difference has an old or a new side")
        return found

    @property
    def key(self) -> Key:
        return key_of(self.object)


def key_of(obj: Named) -> Key:
    return Key(obj.metadata.namespace, obj.metadata.name)


def owner_uids(obj: Named) -> Iterator[str]:
    """For an index by which an owner finds what belongs to it."""
    return (owner.uid for owner in obj.metadata.owner_references)


def at_least(seen: str, wanted: str) -> bool:
    """Whether a resource version is the wanted one or a later one of the same kind of objects.

    From Kubernetes 1.35 on they are whole numbers that only grow, by promise; before, they were so in fact. What is no
    such number (an aggregated API may have its own) can only be the very same one.
    """
    if not (_is_number(seen) and _is_number(wanted)):
        return seen == wanted != ""
    return (len(seen), seen) >= (len(wanted), wanted)


def _is_number(version: str) -> bool:
    return version.isascii() and version.isdecimal() and not version.startswith("0")


class Index(Generic[T]):
    """The objects of a store by something else than their name: each by any number of values."""

    def __init__(self, values: Callable[[T], Iterable[Hashable]]) -> None:
        self._values = values
        self._found: dict[Hashable, dict[Key, T]] = {}

    def __getitem__(self, value: Hashable) -> tuple[T, ...]:
        return tuple(self._found.get(value, {}).values())

    def __len__(self) -> int:
        return len(self._found)

    def note(self, difference: Difference[T]) -> None:
        old, new = difference
        if old is not None:
            for value in set(self._values(old)):
                objects = self._found[value]
                objects.pop(key_of(old), None)
                if not objects:
                    del self._found[value]
        if new is not None:
            for value in set(self._values(new)):
                self._found.setdefault(value, {})[key_of(new)] = new


class Store(Generic[T]):
    """Objects by key; `version` is how far the server's history is known."""

    def __init__(self) -> None:
        self._objects: dict[Key, T] = {}
        self._indexes: list[Index[T]] = []
        self.version = ""

    def get(self, key: Key) -> T | None:
        return self._objects.get(key)

    def __len__(self) -> int:
        return len(self._objects)

    def __iter__(self) -> Iterator[T]:
        return iter(self._objects.values())

    def keys(self) -> Iterable[Key]:
        return self._objects.keys()

    def index(self, values: Callable[[T], Iterable[Hashable]]) -> Index[T]:
        """A further way to find objects, kept up to date from now on."""
        index = Index(values)
        for obj in self:
            index.note(Difference(None, obj))
        self._indexes.append(index)
        return index

    def put(self, obj: T) -> list[Difference[T]]:
        """An object as it is now; no difference if it was known like this, two if the name is another object's now."""
        old = self._objects.get(key_of(obj))
        if old is None:
            return [self._note(Difference(None, obj))]
        if old.metadata.uid != obj.metadata.uid:
            return [self._note(Difference(old, None)), self._note(Difference(None, obj))]
        if old.metadata.resource_version == obj.metadata.resource_version:
            return []
        return [self._note(Difference(old, obj))]

    def drop(self, obj: Named) -> list[Difference[T]]:
        """An object that is gone.

        What the store has under this name goes, whatever its UID: news come in order, so a successor would be told of
        after this.
        """
        old = self._objects.get(key_of(obj))
        return [] if old is None else [self._note(Difference(old, None))]

    def replace(self, objects: Iterable[T], *, kept: Iterable[Key] = ()) -> list[Difference[T]]:
        """All objects there are, with `kept` staying as known; what is not among them is gone."""
        differences: list[Difference[T]] = []
        present = set(kept)
        for obj in objects:
            present.add(key_of(obj))
            differences += self.put(obj)
        vanished = [obj for key, obj in self._objects.items() if key not in present]
        return [self._note(Difference(obj, None)) for obj in vanished] + differences

    def _note(self, difference: Difference[T]) -> Difference[T]:
        if difference.new is not None:
            self._objects[difference.key] = difference.new
        else:
            del self._objects[difference.key]
        for index in self._indexes:
            index.note(difference)
        return difference
