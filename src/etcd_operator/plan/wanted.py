"""What the user wants, put into the terms of the plan: versions, images, names and peer URLs."""

from __future__ import annotations

import re

from etcd_operator.api.cluster import Operation
from etcd_operator.api.cluster_names import host, member_name, peer_url
from etcd_operator.plan.health import answer_of, healthy, listed, voters
from etcd_operator.plan.steps import Urls
from etcd_operator.plan.view import Body, View
from etcd_operator.releases.known import DEFAULT
from etcd_operator.releases.path import landing
from etcd_operator.releases.refusal import Refusal as VersionRefusal
from etcd_operator.releases.version import NotAVersionError, Version


def size(view: View) -> int:
    """The API server lets only 1 to 7 in; what was stored before it did is taken for what it can mean."""
    return min(max(view.cluster.spec.size, 1), 7)


def version(view: View) -> Version | None:
    """What the user asks for. Of a cluster that names none, what was chosen once stays; None if it is no version."""
    asked = view.cluster.spec.version or view.cluster.status.resolved_version or ""
    if not asked:
        return lowest_version(view) or DEFAULT
    try:
        return Version.parse(asked)
    except NotAVersionError:
        return None


def version_refusal(view: View) -> VersionRefusal | None:
    found = version(view)
    return landing(found) if found else None


def lowest_version(view: View) -> Version | None:
    """The lowest that any member runs. A pod that is no member's says nothing: it may be one that nobody can delete."""
    members = [body for name, body in view.bodies.items() if view.roster is None or listed(view, name)]
    found = [running_version(view, body) for body in members]
    return min((each for each in found if each is not None), default=None)


def running_version(view: View, body: Body) -> Version | None:
    """What a member runs. One that was given a higher version may run that at any moment, and not go back any more."""
    answer = answer_of(view, body.name)
    if answer is None or body.version is None:
        return answer.version if answer else body.version
    return max(answer.version, body.version)


def version_for_joiners(view: View, operation: Operation | None = None) -> Version:
    """The lowest of those that answer: not older than the cluster's own version, and no newer than any leader's.

    One of a newer series may not understand the log of an older leader, one of an older series is turned away.
    """
    if operation is not None and operation.version:
        return Version.parse(operation.version)
    answers = [answer_of(view, member.name) for member in voters(view) if healthy(view, member)]
    running = min((answer.version for answer in answers if answer), default=None)
    return running or lowest_version(view) or version(view) or DEFAULT


def image(view: View, of: Version) -> str:
    return f"{view.repository}:v{of}"


def on_claims(view: View) -> bool:
    return view.cluster.spec.pod is not None and view.cluster.spec.pod.persistent_volume_claim_spec is not None


def fresh_names(view: View, number: int) -> tuple[str, ...]:
    return tuple(member_name(view.cluster, suffix) for suffix in view.suffixes[:number])


def own_url(view: View, member: str) -> str:
    return peer_url(view.cluster, host(view.cluster, member))


def peers(view: View, members: frozenset[str]) -> Urls:
    """Peer URLs by name: as etcd lists them, and for who is not listed as they will be."""
    known = {member.name: member.peer_urls for member in view.roster or ()}
    return {name: known.get(name) or frozenset({own_url(view, name)}) for name in sorted(members)}


def bytes_of(quantity: str) -> int:
    """A size as Kubernetes writes it; 0 if it is none."""
    found = re.fullmatch(r"([0-9]+(?:[.][0-9]+)?)([EPTGMk]i?|Ki)?", quantity)
    if not found:
        return 0
    power = "kMGTPE".find((found[2] or " ")[0].replace("K", "k")) + 1
    return int(float(found[1]) * (1024 if (found[2] or "").endswith("i") else 1000) ** power)


def operation(view: View) -> Operation | None:
    return view.cluster.status.operation
