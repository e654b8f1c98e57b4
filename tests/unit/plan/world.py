"""A world in which plans are carried out, turn by turn, with what can go wrong in it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta

import msgspec

from etcd_operator.api.cluster import ClusterStatus
from etcd_operator.plan import steps
from etcd_operator.plan.decision import Plan
from etcd_operator.plan.ladder import plan
from etcd_operator.plan.view import Stage, View
from tests.unit.plan import deeds, nature
from tests.unit.plan.scene import Member, Scene

QUIET = 10  # seconds: who rests as long has nothing to do
CLUMSY = re.compile(r"\b1 (members|voting members|entries|minutes)\b|\b1 (are|answer|serve)\b|None|  |: *$|\.\.$")


@dataclass
class World(Scene):
    log: list[steps.Step] = field(default_factory=list)
    whys: list[str] = field(default_factory=list)
    events: list[str] = field(default_factory=list)
    all_steps: list[steps.Step] = field(default_factory=list)  # also those of a life before
    all_events: set[str] = field(default_factory=set)
    all_reasons: set[tuple[str, str]] = field(default_factory=set)
    careful: bool = True  # looks twice at each decision that changes something
    _spun: ClusterStatus | None = None  # the status of the last turn, if that asked for the next at once

    def decide(self) -> Plan:
        view = self.view()
        decided = plan(view)
        self._does_not_spin(decided)
        if self.careful and decided.status != self.status:
            a_sentence(decided.why)
            for condition in decided.status.conditions or ():
                a_sentence(condition.message or "")
            _decides_the_same_again(view, decided)
        return decided

    def turn(self) -> Plan:
        decided = self.decide()
        self.record(decided)
        self.carry_out(decided)
        return decided

    def record(self, decided: Plan) -> None:
        self.status = decided.status
        self.events += [each.reason for each in decided.events]
        self.all_events |= {each.reason for each in decided.events}
        self.all_reasons |= {(each.type, each.reason or "") for each in decided.status.conditions or ()}

    def carry_out(self, decided: Plan) -> None:
        for chore in decided.chores:
            deeds.tidy(self, chore)
        self.do(decided.step)
        self.whys.append(f"{decided.step.name}: {decided.why}")

    def do(self, step: steps.Step) -> None:
        if not isinstance(step, steps.Wait):
            self.log.append(step)
            self.all_steps.append(step)
        deeds.take(self, step)
        nature.note_silence(self)

    def _does_not_spin(self, decided: Plan) -> None:
        at_once = isinstance(decided.step, steps.Wait) and decided.step.seconds == 0
        assert not (at_once and self._spun == decided.status), f"it spins: {decided.why}"
        self._spun = decided.status if at_once else None

    def run(self, until: Callable[[], bool] | None = None, *, turns: int = 1500) -> World:
        """Turn after turn, with the world going on in between, until it is quiet or as asked."""
        for _ in range(turns):
            decided = self.turn()
            if until() if until is not None else is_quiet(decided):
                return self
            self.pass_time(decided)
        raise AssertionError("it goes on and on:\n" + "\n".join(self.whys[-12:]))

    def pass_time(self, decided: Plan | None = None) -> None:
        rest = decided.step.seconds if decided and isinstance(decided.step, steps.Wait) else 0.05
        self.now += timedelta(seconds=max(rest, 0.05))
        nature.settle(self)

    def spend(self, time: timedelta) -> World:
        end = self.now + time
        return self.run(until=lambda: self.now >= end, turns=10_000)

    def on_the_brink(self, of: type[steps.Step]) -> Plan:
        """Up to the turn that decides on such a step: it is written down, and the operator is killed."""
        for _ in range(500):
            decided = self.decide()
            self.record(decided)
            if isinstance(decided.step, of):
                return decided
            self.carry_out(decided)
            self.pass_time(decided)
        raise AssertionError(f"no {of.__name__} comes")

    # What goes wrong

    def lose_pod(self, name: str) -> None:
        """At once and for good; without a claim its data, too."""
        self.pods.pop(name)
        if name not in self.disks:
            self.written.discard(name)
        nature.note_silence(self)
        self.elect()

    def delete_pod(self, name: str) -> None:
        self.pods[name].deleting = True

    def freeze(self, name: str) -> None:
        self.pods[name].frozen = True
        nature.note_silence(self)
        self.elect()

    def thaw(self, name: str) -> None:
        self.pods[name].frozen = False

    def wipe(self, name: str) -> None:
        """The disk of a member is emptied, and its pod starts anew."""
        self.written.discard(name)
        pod = self.pods[name]
        pod.stage, pod.runs = min(pod.stage, Stage.GUARDED), None
        nature.note_silence(self)
        self.elect()

    def delete_claim(self, name: str) -> None:
        self.disks[name] = replace(self.disks[name], deleting=True)

    def lose_node(self, node: str) -> None:
        self.lost_nodes.add(node)
        nature.note_silence(self)
        self.elect()

    def return_node(self, node: str) -> None:
        self.lost_nodes.discard(node)

    def wipe_status(self) -> None:
        self.status = ClusterStatus()

    def add_by_hand(self, name: str, *, learner: bool, started: bool = False, ours: bool = False) -> Member:
        member = Member(next(self.numbers), name, learner=learner, started=started, ours=ours)
        self.members.append(member)
        nature.note_silence(self)
        return member

    def remove_by_hand(self, name: str) -> None:
        self.members = [member for member in self.members if member.name != name]
        self.elect()

    def beyond_help(self) -> bool:
        """So many disks are gone that those who are left can never agree again."""
        joins = {each.name for each in self.voters if not each.started and each.ours and each.name in self.pods}
        able = [each for each in self.voters if each.name in self.written or each.name in joins]
        return self.born and len(able) <= len(self.voters) // 2

    def as_wanted(self) -> bool:
        versions = {str(pod.version) for pod in self.pods.values()}
        put_back = self.status.failed_version == self.version and self.condition("Ready") == ("False", "InvalidSpec")
        reached = versions == {self.version} and self.condition("Ready") == ("True", "Healthy")
        return (
            self.as_sized()
            and (reached or put_back)
            and {pod.policy for pod in self.pods.values()} == {self.policy}
            and not self.pulls
        )

    def as_sized(self) -> bool:
        right = len(self.voters) == len(self.members) == len(self.pods) == self.size
        return right and self.condition("Available") == ("True", "Serving")

    # What was done

    def steps_of(self, *kinds: type[steps.Step]) -> list[steps.Step]:
        return [step for step in self.log if isinstance(step, kinds)]


def is_quiet(decided: Plan) -> bool:
    return isinstance(decided.step, steps.Wait) and decided.step.seconds >= QUIET and not decided.chores


def a_sentence(text: str) -> None:
    assert not CLUMSY.search(text), text
    command = re.search(r"(run: |with: )etcdctl [a-z0-9 ]+$", text)
    assert not text or (text[0].isupper() or text[0].isdigit() or text.startswith(("demo", "etcd", "spec"))), text
    assert not text or text.endswith(".") or command, text


def _decides_the_same_again(view: View, decided: Plan) -> None:
    """Killed after it had written the status, it does what it was about to do, and writes no other one."""
    if isinstance(decided.step, steps.Wait) and decided.step.seconds == 0:
        return
    cluster = msgspec.structs.replace(view.cluster, status=decided.status)
    again = plan(replace(view, cluster=cluster))
    assert again.step == decided.step, f"{decided.step}, and then {again.step}"
    assert _without_words(again.status) == _without_words(decided.status), (again.why, decided.why)


def _without_words(status: ClusterStatus) -> ClusterStatus:
    conditions = [msgspec.structs.replace(each, message=None) for each in status.conditions or ()]
    return msgspec.structs.replace(status, conditions=tuple(conditions), reason=None)


def a_running_cluster(size: int = 3, *, version: str = "3.6.16", claims: bool = False) -> World:
    world = World(size=size, version=version, claims=claims).run()
    world.log.clear()
    world.whys.clear()
    world.events.clear()
    return world
