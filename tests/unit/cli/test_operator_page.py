"""The page about the process names every flag and every metric that there is, and no others."""

from __future__ import annotations

import re

from box.layout import REPOSITORY
from etcd_operator.cli.command_line import OPTIONS, CommandLine
from etcd_operator.cli.retired import OPERATOR
from etcd_operator.kube.calls import Call
from etcd_operator.web.metrics import Metrics
from tests.unit.web.samples import types
from tests.unit.web.statuses import DEMO, a_member, a_status, upgrading

BLOCK = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
PAGE = BLOCK.sub("", (REPOSITORY / "docs" / "operator.md").read_text())
CODE = re.compile(r"`([^`]+)`")


def test_every_flag_is_on_the_page_with_its_default() -> None:
    words = set(CODE.findall(PAGE))

    assert {option.opts[0] for option in OPTIONS} <= words
    assert {flag.name for flag in OPERATOR} <= words
    assert {CommandLine().listen_addr, CommandLine().etcd_repository} <= words


def test_the_page_has_no_flag_that_is_none() -> None:
    known = {option.opts[0] for option in OPTIONS} | {"--version", "--help"}

    assert {word for word in CODE.findall(PAGE) if re.fullmatch(r"--[a-z-]+", word)} == known


async def test_the_page_has_the_metrics_that_there_are() -> None:
    metrics = Metrics(version="1")
    metrics.turned(DEMO, status=upgrading(a_status(a_member("a"))), step="AddMember", seconds=0.1, error="Unreachable")
    metrics.called(Call("get", "pods", "200", 0.01))

    exposed = {name for name in await types(metrics) if not name.startswith("process_")}

    shown = {name for word in CODE.findall(PAGE) for name in re.findall(r"^etcd_operator_\w+$", word)}
    assert shown == exposed
