"""What a process exposes, taken apart line by line.

The library's own reader would do but for one thing: it adds `_total` to every counter that lacks it.
"""

from __future__ import annotations

import re

from etcd_operator.web.metrics import Metrics

Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]

_SAMPLE = re.compile(r"(?P<name>[a-zA-Z_:][\w:]*)(?:\{(?P<labels>.*)\})? (?P<value>\S+)")
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


async def lines(metrics: Metrics) -> list[str]:
    return (await metrics.exposed()).decode().splitlines()


async def types(metrics: Metrics) -> dict[str, str]:
    """The type of each metric, by name."""
    heads = [line.split() for line in await lines(metrics) if line.startswith("# TYPE ")]
    return {name: kind for _, _, name, kind in heads}


async def samples(metrics: Metrics) -> Samples:
    found = [_SAMPLE.fullmatch(line) for line in await lines(metrics) if not line.startswith("#")]
    assert all(found)
    return {
        (each["name"], frozenset(_LABEL.findall(each["labels"] or ""))): float(each["value"]) for each in found if each
    }


async def value(metrics: Metrics, metric: str, /, **labels: str) -> float | None:
    return (await samples(metrics)).get((metric, frozenset(labels.items())))
