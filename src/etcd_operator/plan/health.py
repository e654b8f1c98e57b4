"""Who answers: what the words voter, leader, healthy and quorum mean everywhere in the plan.

Healthy is only who has just answered a linearizable read itself, with the same leader in the same term as the others,
and is not about to stop. etcd's own view is not enough: from 3.5 on it takes a frozen peer for connected for minutes.
"""

from __future__ import annotations

from collections.abc import Iterable

from etcd_operator.api.cluster import MemberStatus
from etcd_operator.plan.view import Answer, Body, Disk, Listed, View


def quorum(members: int) -> int:
    return members // 2 + 1


def answer_of(view: View, name: str) -> Answer | None:
    found = view.answers.get(name)
    return found if isinstance(found, Answer) else None


def voters(view: View) -> tuple[Listed, ...]:
    return tuple(member for member in view.roster or () if not member.learner)


def learners(view: View) -> tuple[Listed, ...]:
    return tuple(member for member in view.roster or () if member.learner)


def own(view: View) -> tuple[Listed, ...]:
    """Members of the cluster's own domain: the ones that a size speaks of."""
    return tuple(member for member in view.roster or () if member.ours)


def others(view: View) -> tuple[Listed, ...]:
    """Members that somebody added by hand, with an address that no pod of the cluster can have."""
    return tuple(member for member in view.roster or () if not member.ours)


def listed(view: View, name: str) -> Listed | None:
    return next((member for member in view.roster or () if member.name == name), None)


def is_voter(view: View, name: str) -> bool:
    member = listed(view, name)
    return member is not None and not member.learner


def known(view: View, name: str) -> MemberStatus | None:
    """What the status says of a member: how it was when it was last looked at."""
    return next((each for each in view.cluster.status.member_list or () if each.name == name), None)


def marked(view: View) -> frozenset[str]:
    """Who bears the mark of having run as a member, on its pod or on its claim."""
    on_pods = {name for name, body in view.bodies.items() if body.identity}
    return frozenset(on_pods | {name for name, disk in view.disks.items() if disk.identity})


def term(view: View) -> int:
    return max((answer.term for answer in _linearizable(view)), default=0)


def leader_id(view: View) -> int:
    """Whom the members of the newest term agree on; 0 if on nobody."""
    newest = term(view)
    named = {answer.leader for answer in _linearizable(view) if answer.term == newest}
    return named.pop() if len(named) == 1 else 0


def leader(view: View) -> Listed | None:
    led_by = leader_id(view)
    return next((member for member in voters(view) if member.id == led_by), None) if led_by else None


def healthy(view: View, member: Listed) -> bool:
    answer, body = answer_of(view, member.name), living_body(view, member.name)
    return (
        answer is not None
        and body is not None
        and answer.linearizable
        and not answer.learner
        and answer.identity.member_id == member.id
        and answer.leader == leader_id(view) != 0
        and answer.term == term(view)
        and not body.restarting
    )


def silent(view: View, members: Iterable[Listed]) -> list[Listed]:
    return [member for member in members if not healthy(view, member)]


def usable_disk(view: View, name: str) -> Disk | None:
    """The claim of a member, if what was written to it is still there and stays."""
    disk = view.disks.get(name)
    return None if disk is None or disk.lost or disk.deleting else disk


def living_body(view: View, name: str) -> Body | None:
    body = view.bodies.get(name)
    return None if body is None or body.deleting else body


def _linearizable(view: View) -> list[Answer]:
    return [answer for answer in view.answers.values() if isinstance(answer, Answer) and answer.linearizable]
