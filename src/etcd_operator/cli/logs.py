"""Logs: one line each, for programs as JSON, for people as text, and always on standard error.

Every module logs by the standard library, also those that know nothing of this one; here it is only decided what a line
looks like. What a line is about goes beside its sentence, as `extra=about(namespace=…, name=…)`, and not only into it,
so that all lines of one cluster can be found. (structlog would be 3 MB of memory for what these two classes do.)
"""

from __future__ import annotations

import enum
import logging
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, TextIO

import msgspec

_FIELDS = "fields"


class Format(enum.StrEnum):
    JSON = "json"
    TEXT = "text"


class Level(enum.StrEnum):
    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


def about(**fields: object) -> dict[str, Mapping[str, object]]:
    """For `extra`: what a line is about. A record has a `name` of its own, so the fields are kept together."""
    return {_FIELDS: fields}


def fields_of(record: logging.LogRecord) -> Mapping[str, object]:
    found: Mapping[str, object] = getattr(record, _FIELDS, {})
    return found


def time_of(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": time_of(record),
            "level": record.levelname.lower(),
            "message": record.getMessage(),
            **fields_of(record),
            "logger": record.name,
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return msgspec.json.encode(line, enc_hook=str).decode()


class TextLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        fields = " ".join(f"{key}={value}" for key, value in fields_of(record).items())
        line = f"{time_of(record)} {record.levelname:<7} {record.getMessage()}"
        line = f"{line}  {fields}" if fields else line
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


def default_format(stream: TextIO) -> Format:
    return Format.TEXT if stream.isatty() else Format.JSON


def begin(*, format: Format | None = None, level: Level = Level.INFO, stream: TextIO | None = None) -> None:  # noqa: A002
    """Decides for the whole process; the last one who says so is right."""
    stream = stream or sys.stderr
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonLines() if (format or default_format(stream)) is Format.JSON else TextLines())
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    logging.captureWarnings(capture=True)
