"""The three kinds as one table: names, columns, and what their conditions and events mean.

CRDs, reference pages and whoever writes or reads an object of a kind go by these rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from etcd_operator.api.backup import EtcdBackup
from etcd_operator.api.cluster import EtcdCluster
from etcd_operator.api.condition import BACKUP_CONDITIONS, CLUSTER_CONDITIONS, RESTORE_CONDITIONS, Meaning
from etcd_operator.api.event import CLUSTER_EVENTS, EventMeaning
from etcd_operator.api.field import Schema
from etcd_operator.api.restore import EtcdRestore

Object = EtcdCluster | EtcdBackup | EtcdRestore


@dataclass(frozen=True)
class Column:
    """A column of `kubectl get`; a wide one is shown with `-o wide` only."""

    name: str
    path: str
    text: str
    type: str = "string"
    wide: bool = False

    def schema(self) -> Schema:
        return {
            "name": self.name,
            "type": self.type,
            "jsonPath": self.path,
            "description": self.text,
            **({"priority": 1} if self.wide else {}),
        }


@dataclass(frozen=True, kw_only=True)
class Kind:
    """One kind of object, as users and the API server name it."""

    type: type[Object]
    plural: str
    short: str
    columns: tuple[Column, ...]
    conditions: tuple[Meaning, ...]
    events: tuple[EventMeaning, ...] = ()
    name_limits: Mapping[str, object] | None = None
    scale: Mapping[str, str] | None = None

    @property
    def name(self) -> str:
        return self.type.__name__

    @property
    def singular(self) -> str:
        return self.name.lower()


READY = '.status.conditions[?(@.type=="Ready")]'
AGE = Column("Age", ".metadata.creationTimestamp", "Time since the object was created.", type="date")

# Pods are named <cluster>-<10 characters> and services <cluster>-client, and all of them are DNS labels of at most 63.
CLUSTER_NAME = {
    "maxLength": 52,
    "pattern": "^[a-z]([-a-z0-9]*[a-z0-9])?$",
    "description": "Name of the cluster: a DNS label that begins with a letter, of at most 52 characters. Fixed.",
}

KINDS: tuple[Kind, ...] = (
    Kind(
        type=EtcdCluster,
        plural="etcdclusters",
        short="etcd",
        columns=(
            Column("Members", ".status.membersReady", "How many of the members wanted serve."),
            Column("Status", f"{READY}.reason", "One word for how the cluster is."),
            Column("Leader", ".status.leader", "The member that leads."),
            Column("Version", ".status.currentVersion", "The version that all members run."),
            Column("Backup", ".status.lastBackup.time", "Time since the newest good backup.", type="date"),
            AGE,
            Column("Target", ".status.targetVersion", "The version that members are being moved to.", wide=True),
            Column("DB", ".status.dbSize", "Size of the largest member's database.", wide=True),
            Column("Endpoint", ".status.endpoint", "The URL for clients.", wide=True),
            Column("Certs", ".status.certificatesExpire", "When the first certificate expires.", wide=True),
            Column("Message", f"{READY}.message", "How the cluster is, and what comes next.", wide=True),
        ),
        conditions=CLUSTER_CONDITIONS,
        events=CLUSTER_EVENTS,
        name_limits=CLUSTER_NAME,
        scale={
            "specReplicasPath": ".spec.size",
            "statusReplicasPath": ".status.size",
            "labelSelectorPath": ".status.selector",
        },
    ),
    Kind(
        type=EtcdBackup,
        plural="etcdbackups",
        short="etcdbk",
        columns=(
            Column("Cluster", ".status.cluster", "The cluster that is backed up."),
            Column("Phase", ".status.phase", "What it is doing, or how it ended."),
            Column("Size", ".status.size", "Size of the newest good backup."),
            Column("Revision", ".status.etcdRevision", "Revision of the data in it.", type="integer"),
            Column("Took", ".status.took", "How long it took."),
            AGE,
            Column("Object", ".status.object", "Where it lies.", wide=True),
            Column("Reason", ".status.Reason", "Why the newest try failed.", wide=True),
        ),
        conditions=BACKUP_CONDITIONS,
    ),
    Kind(
        type=EtcdRestore,
        plural="etcdrestores",
        short="etcdrs",
        columns=(
            Column("Source", ".status.source", "The backup that is read."),
            Column("Target", ".spec.etcdCluster.name", "The cluster that gets the data."),
            Column("Step", ".status.step", "The step under way."),
            AGE,
            Column("Reason", ".status.reason", "Why it failed.", wide=True),
        ),
        conditions=RESTORE_CONDITIONS,
    ),
)
