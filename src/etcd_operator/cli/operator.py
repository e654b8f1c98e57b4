"""The program `etcd-operator`.

It will run the control loops. Until they exist it says so and refuses to start, because an operator that starts and
does nothing looks like one that works.
"""

from __future__ import annotations

import click

from etcd_operator import __version__

NOT_YET = (
    f"etcd-operator {__version__} cannot run etcd clusters yet: this release has only the box, "
    "a real Kubernetes on one machine to build and prove the operator on (`make demo` brings it up)."
)


@click.command(
    epilog="Without options it prints what this release can do and exits with 2.",
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="etcd-operator", message="%(prog)s %(version)s")
@click.pass_context
def main(context: click.Context) -> None:
    """Create, heal, scale, upgrade and back up etcd clusters on Kubernetes (not in this release yet)."""
    click.echo(NOT_YET, err=True)
    context.exit(2)
