"""What is told of turns, and when."""

from __future__ import annotations

import logging

import pytest

from etcd_operator.cli.logs import fields_of
from etcd_operator.cli.narration import Narration
from etcd_operator.cluster.turned import Turned
from etcd_operator.kube.store import Key
from etcd_operator.web.health import Health
from etcd_operator.web.metrics import Metrics

DEMO = Key("default", "demo")

Lines = list[tuple[str, str]]


def a_narration() -> Narration:
    return Narration(metrics=Metrics(version="1"), health=Health())


def turned(step: str = "Wait", why: str = "All is well.", *, error: str | None = None, key: Key = DEMO) -> Turned:
    return Turned(key=key, status=None, step=step, why=why, seconds=0.1234, error=error)


def important(caplog: pytest.LogCaptureFixture) -> Lines:
    return [(record.levelname, record.getMessage()) for record in caplog.records if record.levelno > logging.DEBUG]


def test_a_step_is_told_with_its_cluster_and_its_reason(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)

    a_narration().turned(turned("PromoteLearner", "demo-x has caught up."))

    (record,) = caplog.records
    assert (record.levelname, record.getMessage()) == ("INFO", "demo-x has caught up.")
    assert fields_of(record) == {"namespace": "default", "name": "demo", "step": "PromoteLearner", "seconds": 0.123}


def test_what_was_said_before_is_no_news(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    narration = a_narration()

    for why in ("All is well.", "All is well.", "2 of 3 answer.", "All is well."):
        narration.turned(turned(why=why))
    narration.turned(turned(why="All is well.", key=Key("other", "demo")))

    assert [text for _, text in important(caplog)] == ["All is well.", "2 of 3 answer.", "All is well.", "All is well."]
    assert len(caplog.records) == 5


def test_a_failure_is_a_warning_with_its_reason(caplog: pytest.LogCaptureFixture) -> None:
    narration = a_narration()

    narration.turned(turned("", "", error="Unreachable"))
    narration.turned(turned("AddMember", "One more is wanted.", error="Refused"))

    assert important(caplog) == [
        ("WARNING", "The turn failed, Unreachable"),
        ("WARNING", "AddMember failed, Refused: One more is wanted."),
    ]
    assert [fields_of(record)["error"] for record in caplog.records] == ["Unreachable", "Refused"]


def test_a_cluster_that_is_gone_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    narration = a_narration()
    narration.turned(turned())

    narration.forget(DEMO)
    narration.forget(DEMO)

    assert [text for _, text in important(caplog)] == ["All is well.", "The cluster is gone"]


async def test_metrics_hear_of_it_too() -> None:
    metrics = Metrics(version="1")
    narration = Narration(metrics=metrics, health=Health())

    narration.turned(turned("AddMember"))
    assert b'step="AddMember"' in await metrics.exposed()

    narration.forget(DEMO)
    assert b"demo" not in await metrics.exposed()
