"""The program `etcd-operator`.

What is imported at the top is what `--help` and `--version` need. The rest takes half a second and is imported when it
is known that it will be used.
"""

from __future__ import annotations

import textwrap
from typing import Any, ClassVar

import click

from etcd_operator import __version__
from etcd_operator.cli import retired
from etcd_operator.cli.command_line import OPTIONS, CommandLine
from etcd_operator.cli.go_flags import GoCommand, RetiredFlag, retired_flags

NAMES = ", ".join(flag.name for flag in retired.OPERATOR)
EPILOG = """\
In a pod, the environment variables MY_POD_NAMESPACE and MY_POD_NAME are required, and the operator's own image is found
by looking at the pod.

A flag takes one dash or two. Its value stands behind a space or an equals sign; that of a boolean flag only behind an
equals sign, and alone it is true.

Flags of older releases that do nothing any more are accepted with a warning:

\b
""" + textwrap.fill(NAMES, 90, break_on_hyphens=False)


class OperatorCommand(GoCommand):
    retired: ClassVar[tuple[RetiredFlag, ...]] = retired.OPERATOR


@click.version_option(__version__, prog_name="etcd-operator", message="%(prog)s %(version)s")
@click.command(cls=OperatorCommand, params=list(OPTIONS), epilog=EPILOG, context_settings={"max_content_width": 100})
@click.pass_context
def main(context: click.Context, /, **given: Any) -> None:  # noqa: ANN401 - read and checked by click
    """Create, heal, scale and upgrade the etcd clusters that EtcdCluster objects ask for."""
    from etcd_operator.cli.process import operate  # noqa: PLC0415 - see above

    context.exit(operate(CommandLine(**given), retired_flags(context)))
