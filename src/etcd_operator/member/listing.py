"""When a joiner's view of its cluster is the cluster's own.

etcd compares its `--initial-cluster` with the list of the first peer that answers it, and ends for good if they differ.
Each peer lists what it has applied itself, and one may lag behind another; so every peer that answers must agree.

A peer's list tells one thing more: a member has no name in it before its first start. A joiner that is listed by name
and has an empty disk has lost it, even if nobody had yet come round to writing its identity down.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from etcd_operator.member.refusal import Refusal
from etcd_operator.member.settings import Settings
from etcd_operator.member.verdict import Start, disk_lost


@dataclass(frozen=True)
class Listed:
    """A member as a peer lists it; learners are members too."""

    name: str
    urls: frozenset[str]


@dataclass(frozen=True)
class Silence:
    why: str


Members = tuple[Listed, ...]
Answers = Mapping[str, Members | Silence]  # by the URL that was asked


@dataclass(frozen=True)
class NotYet:
    why: str


def members_in(body: bytes) -> Members:
    """What `GET /members` says on a peer port; ValueError if that is not what it is."""
    try:
        return tuple(Listed(str(entry.get("name", "")), frozenset(entry["peerURLs"])) for entry in json.loads(body))
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(f"not a list of members: {body[:80]!r}") from error


def compare(answers: Answers, settings: Settings) -> Start | NotYet | Refusal:
    lists = {url: answer for url, answer in answers.items() if not isinstance(answer, Silence)}
    for members in lists.values():
        if ran := _ran_before(members, settings):
            return ran
    if not lists:
        return NotYet(f"No peer lists the members yet: {_silences(answers)}.")
    objections = [objection for url, members in lists.items() if (objection := _objection(url, members, settings))]
    if objections:
        return NotYet(" ".join(objections))
    return Start(f"{settings.member} is listed by {_names(lists, settings)}.")


def _ran_before(members: Members, settings: Settings) -> Refusal | None:
    names = [member.name for member in members if member.urls & settings.own_urls and member.name]
    if not names:
        return None
    return disk_lost(settings, ran=f"is listed by its peers as started ({names[0]}), and its volume holds no data")


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
