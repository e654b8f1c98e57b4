"""The status of a cluster: what is so, in the words of people and of the programs that read the old operator's status.

Made anew on every turn from what was seen, so nothing in it can be stale. Only times are taken over from the status
before: since when a condition holds, since when a member is silent, since when an operation goes on.
"""

from __future__ import annotations

from datetime import datetime

import msgspec

from etcd_operator.api.cluster import ClusterStatus, MemberNames, MemberStatus, Operation
from etcd_operator.api.cluster_names import CLIENT_PORT, client_service_name, client_url, selector
from etcd_operator.plan import joining, wanted
from etcd_operator.plan.birth import born
from etcd_operator.plan.chores import known_cluster_id
from etcd_operator.plan.conditions import conditions
from etcd_operator.plan.evidence import lost
from etcd_operator.plan.health import answer_of, healthy, known, leader, listed, marked, voters
from etcd_operator.plan.losses import majority_unknown
from etcd_operator.plan.outcome import Outcome
from etcd_operator.plan.steps import RemoveMember, Wait
from etcd_operator.plan.view import Answer, Listed, View

UNITS = ("", "Ki", "Mi", "Gi", "Ti")


def state(view: View, outcome: Outcome) -> ClusterStatus:
    before, cluster = view.cluster.status, view.cluster
    members = member_list(view, outcome)
    leading = leader(view)
    ready = tuple(sorted(member.name for member in members if member.ready))
    unready = tuple(sorted(member.name for member in members if not member.ready))
    phase = _phase(view, outcome)
    cluster_id = known_cluster_id(view)
    return ClusterStatus(
        observed_generation=cluster.metadata.generation,
        phase=phase,
        reason=outcome.why if phase == "Failed" else None,
        conditions=conditions(view, outcome, members=members),
        control_paused=cluster.spec.paused,
        size=before.size if view.roster is None else len(view.roster),
        members_ready=f"{len(ready)}/{wanted.size(view)}",
        members=MemberNames(ready=ready or None, unready=unready or None),
        member_list=members or None,
        operation=_operation(outcome),
        discarded=_discarded(view, outcome) or None,
        last_given_up=_last_given_up(view, outcome),
        leader=leading.name if leading else None,
        cluster_id=f"{cluster_id:x}" if cluster_id else None,
        resolved_version=_resolved(view),
        failed_version=_failed(view, outcome),
        current_version=_current(view),
        target_version=outcome.operation.version if outcome.operation and outcome.operation.name == "Upgrade" else None,
        service_name=client_service_name(cluster),
        client_port=CLIENT_PORT,
        endpoint=client_url(cluster, f"{client_service_name(cluster)}.{cluster.metadata.namespace}.svc"),
        selector=",".join(f"{key}={value}" for key, value in selector(cluster).items()),
        db_size=_db_size(view) or before.db_size,
        certificates_expire=before.certificates_expire,
        last_backup=before.last_backup,
    )


def _operation(outcome: Outcome) -> Operation | None:
    """With the step it is at; while it waits, that is the last one that was taken."""
    if outcome.operation is None or isinstance(outcome.step, Wait):
        return outcome.operation
    return msgspec.structs.replace(outcome.operation, step=outcome.step.name)


def _discarded(view: View, outcome: Outcome) -> tuple[str, ...]:
    """Whom the operator removes, from right before it does until nothing is left of it.

    A voter that is still listed and is not removed now was kept after all.
    """
    before = set(view.cluster.status.discarded or ())
    if view.roster is None:
        return tuple(sorted(before))
    going = {name for name in before if (member := listed(view, name)) and member.learner}
    gone = {name for name in before if listed(view, name) is None and name in view.disks}
    now = {outcome.step.member} if isinstance(outcome.step, RemoveMember) else set()
    return tuple(sorted(going | gone | now))


def _last_given_up(view: View, outcome: Outcome) -> datetime | None:
    before = view.cluster.status.last_given_up
    if not isinstance(outcome.step, RemoveMember) or outcome.operation is None or outcome.operation.name != "Replace":
        return before
    member = listed(view, outcome.step.member)
    silent = member is not None and not member.learner and not lost(view, member)
    return view.now.replace(microsecond=0) if silent else before


def member_list(view: View, outcome: Outcome) -> tuple[MemberStatus, ...]:
    """As etcd lists them, with those that wait to be listed; as last known while no list can be had."""
    joiners = joining.joiners(outcome.operation) if outcome.operation else ()
    if view.roster is None:
        return tuple(_unlisted(view, name) for name in sorted({*_named(view), *joiners}))
    waiting = [name for name in joiners if listed(view, name) is None]
    members = [*(_member(view, member) for member in view.roster), *(_unlisted(view, name) for name in waiting)]
    return tuple(sorted(members, key=lambda member: member.name))


def _named(view: View) -> frozenset[str]:
    """By the status; where somebody wiped that, by who has run, so that what they ran is not forgotten, too."""
    return frozenset(member.name for member in view.cluster.status.member_list or ()) or marked(view)


def _member(view: View, member: Listed) -> MemberStatus:
    body, leading = view.bodies.get(member.name), leader(view)
    well = healthy(view, member)
    role = "Learner" if member.learner else "Leader" if leading and leading.id == member.id else "Voter"
    answers = well or (member.learner and answer_of(view, member.name) is not None)
    return MemberStatus(
        name=member.name,
        member_id=f"{member.id:x}",
        role=role,
        ready=well and body is not None and body.ready,
        version=_version(view, member.name),
        node=(body.node or None) if body else None,
        silent_since=None if answers else _since(view, member.name),
        message=_message(view, member.name),
    )


def _unlisted(view: View, name: str) -> MemberStatus:
    """Of whom etcd does not list, or of everybody while no list can be had: then who they are stays."""
    body, before = view.bodies.get(name), known(view, name) if view.roster is None else None
    role = (before.role if before else None) or ("Voter" if name in marked(view) else "Joining")
    return MemberStatus(
        name=name,
        member_id=before.member_id if before else None,
        role="Voter" if role == "Leader" else role,
        ready=False,
        version=_version(view, name),
        node=(body.node or None) if body else None,
        silent_since=None if answer_of(view, name) or role == "Joining" else _since(view, name),
        message=_message(view, name),
    )


def _version(view: View, name: str) -> str | None:
    """What it says itself; while it is silent what it said last, as that is what it can always go back to."""
    answer, before, body = answer_of(view, name), known(view, name), view.bodies.get(name)
    if answer is not None:
        return str(answer.version)
    return (before.version if before else None) or (str(body.version) if body and body.version else None)


def _since(view: View, name: str) -> datetime:
    """When it was first found silent."""
    before = known(view, name)
    return (before.silent_since if before else None) or view.now.replace(microsecond=0)


def _message(view: View, name: str) -> str | None:
    body = view.bodies.get(name)
    if body is None:
        return "It has no pod." if listed(view, name) else None
    if body.verdict is not None:
        return body.verdict.sentence
    if body.deleting:
        return "Its pod is being deleted."
    return body.trouble or None


def _phase(view: View, outcome: Outcome) -> str:
    """Never Running while a majority is missing, whatever else is the matter."""
    if born(view) and view.roster is None and not majority_unknown(view):
        return "Failed"
    creating = outcome.operation is not None and outcome.operation.name == "Bootstrap"
    return "Creating" if creating or not (born(view) or view.roster) else "Running"


def _resolved(view: View) -> str | None:
    """Chosen once and kept, as long as the user names none."""
    found = None if view.cluster.spec.version else wanted.version(view)
    return str(found) if found else None


def _failed(view: View, outcome: Outcome) -> str | None:
    failed = outcome.failed_version or view.cluster.status.failed_version
    return failed if failed and failed == str(wanted.version(view)) else None


def _current(view: View) -> str | None:
    """What all members run; while they differ, or are silent, what they ran together last."""
    answers = [answer_of(view, member.name) for member in voters(view)]
    versions = {answer.version for answer in answers if isinstance(answer, Answer)}
    if answers and None not in answers and len(versions) == 1:
        return str(versions.pop())
    return view.cluster.status.current_version


def _db_size(view: View) -> str | None:
    """The largest, with two digits: it is for the eye, and every change is sent to every watcher."""
    sizes = [answer.db_size for answer in view.answers.values() if isinstance(answer, Answer)]
    size = float(max(sizes, default=0))
    if not size:
        return None
    power = 0
    while size >= 1000 and power < len(UNITS) - 1:
        size, power = size / 1024, power + 1
    return f"{float(f'{size:.2g}'):g}{UNITS[power]}"
