from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from datetime import datetime

import pytest

from etcd_operator.cli import logs
from etcd_operator.cli.logs import Format, Level, about, default_format

log = logging.getLogger("etcd_operator.kube.somewhere")


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    root = logging.getLogger()
    level, handlers = root.level, root.handlers[:]
    yield
    root.setLevel(level)
    root.handlers[:] = handlers
    logging.captureWarnings(capture=False)


def begun(format: Format, level: Level = Level.INFO) -> io.StringIO:  # noqa: A002
    stream = io.StringIO()
    logs.begin(format=format, level=level, stream=stream)
    return stream


def test_a_line_of_json_has_the_sentence_and_what_it_is_about() -> None:
    stream = begun(Format.JSON)

    log.info("%d of %d answer", 2, 3, extra=about(namespace="default", name="demo", step="Wait"))

    line = json.loads(stream.getvalue())
    assert datetime.fromisoformat(line.pop("time")).tzinfo is not None
    assert line == {
        "level": "info",
        "message": "2 of 3 answer",
        "namespace": "default",
        "name": "demo",
        "step": "Wait",
        "logger": "etcd_operator.kube.somewhere",
    }


def test_whatever_a_field_holds_it_stays_one_line_of_json() -> None:
    stream = begun(Format.JSON)

    log.warning("two\nlines ä", extra=about(error=ValueError("x"), when={1, 2}.__class__))

    (line,) = stream.getvalue().splitlines()
    assert json.loads(line)["message"] == "two\nlines ä"
    assert json.loads(line)["error"] == "x"


def test_a_traceback_is_a_field_of_its_line() -> None:
    stream = begun(Format.JSON)

    try:
        raise KeyError("oops")
    except KeyError:
        log.exception("A defect")

    (line,) = map(json.loads, stream.getvalue().splitlines())
    assert (line["level"], line["message"]) == ("error", "A defect")
    assert line["traceback"].endswith("KeyError: 'oops'")


def test_text_is_for_people() -> None:
    stream = begun(Format.TEXT)

    log.info("2 of 3 answer", extra=about(namespace="default", name="demo"))

    time, rest = stream.getvalue().split(" ", 1)
    assert time.endswith("Z")
    assert rest == "INFO    2 of 3 answer  namespace=default name=demo\n"


def test_less_important_lines_are_left_out() -> None:
    stream = begun(Format.TEXT, Level.WARNING)

    log.info("unheard")
    log.warning("heard")

    assert stream.getvalue().count("\n") == 1
    assert "heard" in stream.getvalue()


def test_json_is_for_everything_but_a_terminal() -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    assert default_format(io.StringIO()) is Format.JSON
    assert default_format(Terminal()) is Format.TEXT
