"""Command lines of the old programs, as people have them in their manifests."""

from __future__ import annotations

import click
import pytest
from click.testing import CliRunner

from etcd_operator.cli.go_flags import GoCommand, RetiredFlag, parsed, retired_flags

FLAGS = {"cluster-wide": True, "create-crd": True, "listen-addr": False, "chaos-level": False}


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("", []),
        ("-cluster-wide", [("cluster-wide", "true")]),
        ("--cluster-wide", [("cluster-wide", "true")]),
        ("-create-crd=false", [("create-crd", "false")]),
        ("--create-crd=F -cluster-wide=1", [("create-crd", "false"), ("cluster-wide", "true")]),
        ("-listen-addr :9090", [("listen-addr", ":9090")]),
        ("--listen-addr=0.0.0.0:8080", [("listen-addr", "0.0.0.0:8080")]),
        ("-listen-addr=a=b", [("listen-addr", "a=b")]),
        ("-listen-addr=", [("listen-addr", "")]),
        ("-chaos-level -1", [("chaos-level", "-1")]),
        ("-chaos-level=-1 -cluster-wide", [("chaos-level", "-1"), ("cluster-wide", "true")]),
        ("-cluster-wide -cluster-wide=false", [("cluster-wide", "true"), ("cluster-wide", "false")]),
        ("-h", [("help", "true")]),
        ("-help", [("help", "true")]),
    ],
)
def test_a_line_means_what_go_made_of_it(line: str, meant: list[tuple[str, str]]) -> None:
    assert parsed(line.split(), FLAGS) == meant


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("-paused", "There is no flag -paused"),
        ("--CLUSTER-WIDE", "There is no flag -CLUSTER-WIDE"),
        ("-cluster-wide=yes", "either true or false, and not 'yes'"),
        ("-cluster-wide false -create-crd=false", "'false' belongs to no flag"),
        ("-listen-addr", "needs a value"),
        ("serve", "'serve' belongs to no flag"),
        ("-", "'-' belongs to no flag"),
        ("--", "'--' belongs to no flag"),
        ("---cluster-wide", "is no flag"),
        ("-=true", "is no flag"),
    ],
)
def test_what_cannot_be_understood_is_refused_in_a_sentence(line: str, sentence: str) -> None:
    with pytest.raises(click.UsageError) as refusal:
        parsed(line.split(), FLAGS)

    assert sentence in str(refusal.value.message)
    assert refusal.value.exit_code == 2


class Command(GoCommand):
    retired = (RetiredFlag("analytics", "nothing is sent", boolean=True), RetiredFlag("master", "found by itself"))


@click.command(cls=Command)
@click.option("--cluster-wide", type=bool, default=False)
@click.option("--create-crd", type=bool, default=True)
@click.option("--listen-addr", default="everywhere")
@click.version_option("1.2.3")
@click.pass_context
def program(context: click.Context, *, cluster_wide: bool, create_crd: bool, listen_addr: str) -> None:
    names = [flag.name for flag in retired_flags(context)]
    click.echo(f"{cluster_wide} {create_crd} {listen_addr} {names}")


@pytest.mark.parametrize(
    ("line", "output"),
    [
        ("", "False True everywhere []"),
        ("-cluster-wide -create-crd=0 -listen-addr :1", "True False :1 []"),
        ("-cluster-wide -cluster-wide=false", "False True everywhere []"),
        ("-analytics -master host -cluster-wide", "True True everywhere ['analytics', 'master']"),
        ("-analytics=false -analytics", "False True everywhere ['analytics']"),
        ("-version=false", "False True everywhere []"),
    ],
)
def test_click_gets_values_of_their_types_and_hears_nothing_of_retired_flags(line: str, output: str) -> None:
    result = CliRunner().invoke(program, line.split())

    assert (result.output, result.exit_code) == (f"{output}\n", 0)


@pytest.mark.parametrize("word", ["-version", "--version", "-version=true"])
def test_a_switch_of_click_takes_one_dash_too(word: str) -> None:
    result = CliRunner().invoke(program, [word])

    assert "1.2.3" in result.output
    assert result.exit_code == 0
