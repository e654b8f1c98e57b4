"""What etcd says: every member is asked by itself and at the same time, and one of them for the list of all.

Healthy is only who answers a linearizable read itself, on its client port. What members say of each other does not
count: from 3.5 on a frozen peer is taken for connected for minutes. The list is taken from the leader if it answers,
else from another voter that has just answered such a read, and always so that nothing the majority knows is missing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from etcd_operator.api.cluster import EtcdCluster
from etcd_operator.cluster.dialling import Dialler
from etcd_operator.cluster.roster import listed
from etcd_operator.etcd.call import READ, seconds_left, until_from
from etcd_operator.etcd.capabilities import read_version
from etcd_operator.etcd.errors import EtcdError, Reason, RefusedError
from etcd_operator.etcd.member import Member
from etcd_operator.etcd.results import Status
from etcd_operator.plan.view import Alarm, Answer, Body, Identity, Listed, Silence, Stage

UNAUTHORIZED = frozenset(
    {
        Reason.AUTH_FAILED,
        Reason.INVALID_TOKEN,
        Reason.OLD_AUTH_REVISION,
        Reason.PERMISSION_DENIED,
        Reason.USER_EMPTY,
        Reason.USER_NOT_FOUND,
    }
)
ONE_KEY = b"\0"
TELLERS = 2  # so many are asked for the list before it is given up
PARTING = 0.5  # seconds for a member whose pod is going: its address may lead nowhere any more, and all would wait


@dataclass(frozen=True)
class Asked:
    """A member, and what came of asking it."""

    name: str
    member: Member
    said: Answer | Silence
    unauthorized: str = ""
    takes_no_login: bool = False


@dataclass(frozen=True)
class Heard:
    answers: Mapping[str, Answer | Silence] = field(default_factory=dict)
    roster: tuple[Listed, ...] | None = None
    no_roster: str = ""
    alarms: tuple[Alarm, ...] = ()
    unauthorized: str = ""  # what a member said that does not let us in
    teller: Member | None = None  # who gave the list


def can_be_asked(body: Body) -> bool:
    """Also one of which the kubelet has not told yet that etcd runs: it looks once a second only."""
    return bool(body.address) and Stage.PREPARING <= body.stage <= Stage.STARTED


async def inquire(cluster: EtcdCluster, bodies: Iterable[Body], dial: Dialler) -> Heard:
    asked = await asyncio.gather(*(_ask(body, dial) for body in bodies if can_be_asked(body)))
    asked = await asyncio.gather(*(_introduced(each, _tellers(asked)) for each in asked))
    started = {body.name for body in bodies if body.stage is Stage.STARTED}
    heard = Heard(
        answers={each.name: each.said for each in asked if each.name in started or isinstance(each.said, Answer)},
        unauthorized=next((each.unauthorized for each in asked if each.unauthorized), ""),
    )
    why = "no member answers a linearizable read"
    for candidate in _tellers(asked)[:TELLERS]:
        try:
            told = await _list(cluster, candidate.member, heard)
        except EtcdError as error:
            why = str(error)
            continue
        if _is_known(candidate, told):
            return told
        why = f"who answers at the address of {candidate.name} is no member of that name, but another cluster's"
        heard = replace(heard, answers={**heard.answers, candidate.name: Silence(why)})
    return replace(heard, no_roster=why)


async def _ask(body: Body, dial: Dialler) -> Asked:
    deadline = PARTING if body.deleting else READ
    until = until_from(deadline)
    member = dial(body)
    try:
        answer = answer_of(await member.status(deadline=deadline))
    except EtcdError as error:
        unable = isinstance(error, RefusedError) and error.reason is Reason.NOT_FOR_LEARNERS
        return Asked(body.name, member, Silence(str(error)), unauthorized=_barred(error), takes_no_login=unable)
    if answer.learner:
        return Asked(body.name, member, answer)
    try:
        await member.range(ONE_KEY, limit=1, keys_only=True, deadline=seconds_left(until))
    except EtcdError as error:
        return Asked(body.name, member, answer, unauthorized=_barred(error))
    return Asked(body.name, member, replace(answer, linearizable=True))


async def _introduced(asked: Asked, voters: list[Asked]) -> Asked:
    """A learner takes no logins, and where authentication is on it answers only those who have one: made elsewhere."""
    if not asked.takes_no_login or not voters:
        return asked
    try:
        await voters[0].member.introduce(asked.member)
        return replace(asked, said=answer_of(await asked.member.status()), takes_no_login=False)
    except EtcdError as error:
        return replace(asked, said=Silence(str(error)))


def answer_of(status: Status) -> Answer:
    header = status.header
    applied = status.raft_applied_index
    return Answer(
        identity=Identity(cluster_id=header.cluster_id, member_id=header.member_id),
        version=read_version(status.version),
        leader=status.leader,
        term=status.raft_term,
        applied=status.raft_index if applied is None else applied,
        learner=status.is_learner,
        errors=status.errors or (),
        db_size=status.db_size,
    )


def _tellers(asked: Iterable[Asked]) -> list[Asked]:
    able = [each for each in asked if isinstance(each.said, Answer) and each.said.linearizable]
    return sorted(able, key=lambda each: not _leads(each))


def _leads(asked: Asked) -> bool:
    return isinstance(asked.said, Answer) and asked.said.leader == asked.said.identity.member_id


async def _list(cluster: EtcdCluster, member: Member, heard: Heard) -> Heard:
    found, raised = await asyncio.gather(member.member_list(linearizable=True), member.alarms())
    return replace(
        heard,
        roster=tuple(listed(cluster, record) for record in found.members),
        alarms=tuple(Alarm(alarm.member_id, alarm.kind.value) for alarm in raised),
        teller=member,
    )


def _is_known(asked: Asked, told: Heard) -> bool:
    """Whether who gave the list is in it under the name of its pod; it need not prove that if its cluster is known.

    Addresses are used again. Before a cluster's ID is written down, nothing else tells that it is not a neighbour's
    etcd that answers there, and its ID would be taken for ours for ever.
    """
    if asked.member.target.cluster_id is not None or not isinstance(asked.said, Answer):
        return True
    ids = {member.id for member in told.roster or () if member.name == asked.name}
    return asked.said.identity.member_id in ids


def _barred(error: EtcdError) -> str:
    return str(error) if isinstance(error, RefusedError) and error.reason in UNAUTHORIZED else ""
