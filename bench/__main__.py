"""`make bench`: runs the benchmarks and prints one line for each ratio.

It starts what it needs (etcd servers on loopback, a box of its own) and removes it. A missed bound is printed and, with
`--strict`, ends with 1: a shared machine can have a bad minute, so the default is to tell and not to fail.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Callable, Coroutine
from pathlib import Path

import click

from bench import api_requests, footprint, growing, snapshots, upgrading, watching
from bench.comparison import Result

BENCHMARKS: dict[str, Callable[[int], Coroutine[None, None, list[Result]]]] = {
    "snapshot": snapshots.measure,
    "requests": api_requests.measure,
    "memory": watching.measure,
    "cluster": growing.measure,
    "upgrade": upgrading.measure,
    "footprint": footprint.measure,
}


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("names", nargs=-1, type=click.Choice(list(BENCHMARKS)))
@click.option("--rounds", default=5, show_default=True, help="How often each side is measured.", type=click.IntRange(1))
@click.option("--json", "json_file", type=click.Path(path_type=Path), help="Also write every figure to this file.")
@click.option("--strict", is_flag=True, help="End with 1 when a bound is missed.")
def main(names: tuple[str, ...], *, rounds: int, json_file: Path | None, strict: bool) -> None:
    """Measure ours against a baseline beside it; without NAMES, everything."""
    results: list[Result] = []
    for name in names or tuple(BENCHMARKS):
        began = time.monotonic()
        click.echo(f"{name} …", err=True)
        results += asyncio.run(BENCHMARKS[name](rounds))
        click.echo(f"{name}: {time.monotonic() - began:.0f} s", err=True)
    for result in results:
        click.echo(result.line())
    if json_file:
        json_file.write_text(json.dumps([result.figures() for result in results], indent=2) + "\n")
    missed = [result.name for result in results if not result.kept]
    if missed:
        click.echo(f"missed: {', '.join(missed)}", err=True)
    sys.exit(1 if missed and strict else 0)


if __name__ == "__main__":
    main()
