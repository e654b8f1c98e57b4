"""What users read about is what they meet: each reason is in its table, and each row of the table can come."""

from __future__ import annotations

from datetime import timedelta

from etcd_operator.api.condition import CLUSTER_CONDITIONS
from etcd_operator.api.event import CLUSTER_EVENTS
from etcd_operator.plan import steps
from etcd_operator.plan.refusal import Refusal
from etcd_operator.plan.view import Alarm
from tests.unit.plan.world import World, a_running_cluster

OTHERS = {"BackupHealthy", "CertificatesValid"}  # conditions that the plan only carries on
NOT_YET = {"Restoring", "MemberLags", "Enough", "QuotaNearlyFull", "VolumeNearlyFull"}


def lives() -> list[World]:
    grown = a_running_cluster(1, version="3.6.16", claims=True)
    for size in (3, 2):
        grown.size = size
        grown.run()
    grown.version = "3.7.3"
    grown.run()
    grown.version = "3.5.1"
    grown.run()
    return [grown, _rolled(), _lost(), _stopped(), _alarmed(), World(version="9.9.9").run(), _unreachable()]


def _rolled() -> World:
    world = a_running_cluster(3, version="3.6.16")
    world.policy, world.version = "p2", "3.6.17"
    world.run()
    world.lose_pod(world.names[0])
    return world.run()


def _lost() -> World:
    world = a_running_cluster(3, claims=True)
    for name in world.names[:2]:
        world.freeze(name)
    world.spend(timedelta(minutes=1))
    for name in world.names:
        world.thaw(name)
    world.lose_pod(world.names[0])
    return world.run()


def _stopped() -> World:
    world = a_running_cluster(3)
    world.paused = True
    world.run()
    world.paused = False
    world.freeze(world.names[0])
    return world.spend(timedelta(seconds=30))


def _alarmed() -> World:
    world = a_running_cluster(3)
    world.alarms = (Alarm(0, "NOSPACE"),)
    world.run()
    world.alarms = ()
    return world.run()


def _unreachable() -> World:
    world = a_running_cluster(3)
    world.problems = (Refusal("SecretMissing", "Secret demo is not there."),)
    for name in world.names:
        world.freeze(name)
    world.turn()
    world.problems, world.alone = (), False
    world.turn()
    return world


def test_each_event_has_a_row_and_each_row_an_event() -> None:
    worlds = lives()
    told = {reason for world in worlds for reason in world.all_events}
    taken = {step.event for world in worlds for step in world.all_steps if step.event}

    assert told | taken == {row.reason for row in CLUSTER_EVENTS}
    assert taken == {kind.event for kind in steps.Step.__subclasses__() if kind.event}


def test_each_condition_and_reason_has_a_row_and_each_row_a_condition() -> None:
    table = {(row.type, reason) for row in CLUSTER_CONDITIONS if row.type not in OTHERS for reason in row.reasons}
    seen = {each for world in lives() for each in world.all_reasons}

    assert seen <= table
    assert {each for each in table - seen if each[1] not in NOT_YET} == {("Available", "NoLeader")}
