"""The commands of the object storage: `box s3 …` and `box azure …`."""

from __future__ import annotations

import argparse
import sys
from argparse import Namespace
from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING

from box import control
from box.layout import BoxError, Layout
from box.storage import azure, objectstore
from box.storage.rules import MODES, Rule
from box.toolchain import builds

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[argparse.ArgumentParser]  # noqa: SLF001 - it has no public name
    Add = Callable[[Commands, str, Callable[..., int | None], str], argparse.ArgumentParser]


def add_s3(commands: Commands, add: Add) -> None:
    _add_common(commands, add, "s3")
    listing = add(commands, "ls", _ls, "list the buckets, or the objects in one")
    listing.add_argument("path", nargs="?", default="", metavar="BUCKET[/PREFIX]")
    add(commands, "mb", _mb, "make a bucket").add_argument("bucket")
    remove = add(commands, "rb", _rb, "remove a bucket")
    remove.add_argument("bucket")
    remove.add_argument("--force", action="store_true", help="with everything in it")


def add_azure(commands: Commands, add: Add) -> None:
    _add_common(commands, add, "azure")


def _add_common(commands: Commands, add: Add, which: str) -> None:
    add(commands, "env", _env, "print the endpoint, as pods reach it, and the keys as variables for the shell")
    fault = add(commands, "fault", _fault, "let the server fail, or heal it with `ok`")
    fault.formatter_class = argparse.RawDescriptionHelpFormatter
    fault.epilog = "modes:\n" + "\n".join(f"  {mode:9} {text}" for mode, text in MODES.items())
    fault.add_argument("mode", choices=tuple(MODES), metavar="MODE", help="one of the modes below")
    fault.add_argument("amount", nargs="?", type=int, help="bytes before the cut, or bytes per second")
    fault.add_argument("--count", type=int, metavar="N", help="only the next N requests")
    fault.add_argument("--method", default="", help="only such requests, for instance PUT")
    fault.add_argument("--match", default="", metavar="TEXT", help="only requests with this in path or query")
    for name in ("env", "fault"):
        commands.choices[name].set_defaults(which=which)


def _env(layout: Layout, chosen: Namespace) -> None:
    _start(layout, chosen.which)
    lines = objectstore.s3_env(layout) if chosen.which == "s3" else objectstore.azure_env(layout)
    print("\n".join(lines))


def _fault(layout: Layout, chosen: Namespace) -> None:
    rule = Rule(mode=chosen.mode, count=chosen.count, method=chosen.method, match=chosen.match, amount=chosen.amount)
    _start(layout, chosen.which)
    objectstore.fault(layout, chosen.which, rule)
    print(f"{chosen.which}: {rule.describe()}")


def _ls(layout: Layout, chosen: Namespace) -> int:
    return _inside(layout, "ls", chosen.path)


def _mb(layout: Layout, chosen: Namespace) -> int:
    return _inside(layout, "mb", chosen.bucket)


def _rb(layout: Layout, chosen: Namespace) -> int:
    return _inside(layout, "rb", chosen.bucket, *(["--force"] if chosen.force else []))


def _start(layout: Layout, which: str) -> None:
    if not control.answers(layout):
        raise BoxError(f"the box is down. Start it with: {layout.command('up')}")

    def say(text: str) -> None:
        print(text, file=sys.stderr, flush=True)  # standard output is for the shell

    if which == "s3":
        builds.ensure(layout, ["versitygw"], say=say)
    else:
        azure.ensure(layout, say)
    control.call(layout, "keep", children=[asdict(child) for child in objectstore.children(layout, which)])
    _ask(layout, "wait", which)


def _inside(layout: Layout, *arguments: str) -> int:
    _start(layout, "s3")
    output = _ask(layout, *arguments)
    if output.strip():
        print(output.rstrip())
    return 0


def _ask(layout: Layout, *arguments: str) -> str:
    argv = [sys.executable, "-m", "box.storage.objectstore", str(layout.home), layout.name, *arguments]
    code, output = control.run_in_room(layout, argv)
    if code:
        raise BoxError(output.strip())
    return output
