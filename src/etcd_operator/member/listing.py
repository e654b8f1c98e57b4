"""When a joiner's view of its cluster is the cluster's own.

etcd compares its `--initial-cluster` with the list of the first peer that answers it, and ends for good if they differ.
Each peer lists what it has applied itself, and one may lag behind another; so every peer that answers must agree.

A peer's list tells one thing more: who has started. A joiner that is listed as started and has an empty disk has lost
it, even if nobody had yet come round to writing its identity down. And of several that join together one starts after
the other: before it serves, etcd asks each member for its version, and two that ask each other then wait for 7 s or 14,
with their ports open and nobody behind them.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from etcd_operator.member.refusal import Refusal
from etcd_operator.member.settings import Settings
from etcd_operator.member.verdict import Start, disk_lost


@dataclass(frozen=True)
class Listed:
    """A member as a peer lists it; learners are members too."""

    name: str  # empty until it has started
    urls: frozenset[str]


@dataclass(frozen=True)
class Silence:
    why: str


Members = tuple[Listed, ...]
Answers = Mapping[str, Members | Silence]  # by the URL that was asked


@dataclass(frozen=True)
class NotYet:
    why: str


@dataclass(frozen=True)
class AfterOthers:
    """It may start, and does so best when these have: not for long, as they may never."""

    why: str


def members_in(body: bytes) -> Members:
    """What `GET /members` says on a peer port; ValueError if that is not what it is."""
    try:
        return tuple(Listed(_name(entry), frozenset(entry["peerURLs"])) for entry in json.loads(body))
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(f"not a list of members: {body[:80]!r}") from error


def _name(entry: Mapping[str, object]) -> str:
    """A peer that is just starting lists all by name, out of its own flags; URLs for clients come with a start."""
    return str(entry.get("name", "")) if entry.get("clientURLs") else ""


def compare(answers: Answers, settings: Settings) -> Start | NotYet | AfterOthers | Refusal:
    lists = {url: answer for url, answer in answers.items() if not isinstance(answer, Silence)}
    for members in lists.values():
        if ran := _ran_before(members, settings):
            return ran
    if not lists:
        return NotYet(f"No peer lists the members yet: {_silences(answers)}.")
    objections = [objection for url, members in lists.items() if (objection := _objection(url, members, settings))]
    if objections:
        return NotYet(" ".join(objections))
    if before := _to_start_before(lists.values(), settings):
        return AfterOthers(f"{settings.member} is listed and starts after {', '.join(before)}.")
    return Start(f"{settings.member} is listed by {_names(lists, settings)}.")


def _ran_before(members: Members, settings: Settings) -> Refusal | None:
    names = [member.name for member in members if member.urls & settings.own_urls and member.name]
    if not names:
        return None
    return disk_lost(settings, ran=f"is listed by its peers as started ({names[0]}), and its volume holds no data")


def _to_start_before(lists: Iterable[Members], settings: Settings) -> list[str]:
    """Those whose names come first and whom nobody lists as started: all who wait see the same order."""
    started = {url for members in lists for member in members if member.name for url in member.urls}
    return sorted(
        name for name, urls in settings.initial_cluster.items() if name < settings.member and not urls & started
    )


def _objection(url: str, members: Members, settings: Settings) -> str | None:
    """What keeps one peer's list from being `--initial-cluster`."""
    listed = Counter(member.urls for member in members)
    wanted = Counter(settings.initial_cluster.values())
    if listed == wanted:
        return None
    peer = settings.peers[url]
    surplus, missing = listed - wanted, wanted - listed
    if not surplus and missing == Counter([settings.own_urls]):
        return f"{peer} does not list {settings.member} yet."
    return (
        f"The list of {peer} is another than this pod was made for ({_difference(surplus, missing)}); "
        "unless it changes, this pod waits until a new one is made for it."
    )


def _difference(surplus: Counter[frozenset[str]], missing: Counter[frozenset[str]]) -> str:
    parts = [f"{sign} {' '.join(sorted(urls))}" for sign, some in (("+", surplus), ("-", missing)) for urls in some]
    return ", ".join(sorted(parts))


def _silences(answers: Answers) -> str:
    found = [f"{url}: {answer.why}" for url, answer in sorted(answers.items()) if isinstance(answer, Silence)]
    return "; ".join(found)


def _names(urls: Mapping[str, Members], settings: Settings) -> str:
    return ", ".join(sorted({settings.peers[url] for url in urls}))
