"""What can be said to `etcd-operator` on its command line: the flags it always had, and newer ones."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

LISTEN = "0.0.0.0:8080"
ETCD_REPOSITORY = "quay.io/coreos/etcd"


@dataclass(frozen=True, kw_only=True)
class CommandLine:
    """One field for each option below."""

    listen_addr: str = LISTEN
    create_crd: bool = True
    cluster_wide: bool = False
    etcd_repository: str = ETCD_REPOSITORY
    operator_image: str | None = None
    kubeconfig: Path | None = None
    context: str | None = None
    namespace: str | None = None
    log_format: str | None = None
    log_level: str = "info"


OPTIONS: tuple[click.Option, ...] = (
    click.Option(
        ["--listen-addr"],
        default=LISTEN,
        metavar="ADDRESS",
        show_default=True,
        help="Where /healthz, /readyz and /metrics are served.",
    ),
    click.Option(
        ["--create-crd"],
        type=bool,
        default=True,
        metavar="BOOL",
        show_default=True,
        help="Bring the definition of EtcdCluster up to date before anything else.",
    ),
    click.Option(
        ["--cluster-wide"],
        type=bool,
        default=False,
        metavar="BOOL",
        show_default=True,
        help="Look after the clusters of all namespaces that have the annotation etcd.database.coreos.com/scope with "
        "the value clusterwide; without this flag, after those of the own namespace that have no such annotation.",
    ),
    click.Option(
        ["--etcd-repository"],
        default=ETCD_REPOSITORY,
        metavar="IMAGE",
        show_default=True,
        help="The image of etcd, without a tag, for clusters whose spec names none.",
    ),
    click.Option(
        ["--operator-image"],
        metavar="IMAGE",
        help="The operator's own image, from which members' pods run the check of their disk before etcd.",
    ),
    click.Option(
        ["--kubeconfig"],
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="The cluster to work on, if it is not the one that the operator runs in.",
    ),
    click.Option(["--context"], metavar="NAME", help="The context of the kubeconfig, if not its current one."),
    click.Option(
        ["--namespace"],
        metavar="NAME",
        help="The own namespace; otherwise MY_POD_NAMESPACE, or outside of a pod the one of the context.",
    ),
    click.Option(
        ["--log-format"],
        type=click.Choice(["json", "text"]),
        metavar="FORMAT",
        help="How log lines look: json, or text; otherwise text on a terminal, and json everywhere else.",
    ),
    click.Option(
        ["--log-level"],
        type=click.Choice(["debug", "info", "warning", "error"]),
        default="info",
        show_default=True,
        metavar="LEVEL",
        help="The least important lines to be logged: debug, info, warning or error.",
    ),
)
