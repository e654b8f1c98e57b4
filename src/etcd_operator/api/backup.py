"""EtcdBackup: one backup of a cluster, or one after another."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, ClassVar

import msgspec

from etcd_operator.api.condition import Condition
from etcd_operator.api.field import Change, Field, Limits
from etcd_operator.api.storage import (
    AbsStorage,
    GcsStorage,
    OssStorage,
    S3Storage,
    StorageType,
    exactly_one_block,
    named_block,
)
from etcd_operator.api.stored import Metadata, Part


class BackupPolicy(Part, frozen=True):
    """How often, how long, how many."""

    timeout_in_second: Annotated[
        int | None,
        Field(
            text="How long one backup may take, in seconds; 0 or less means the default.",
            absent="60",
            change=Change.NEXT_RUN,
        ),
    ] = None
    backup_interval_in_second: Annotated[
        int,
        Field(
            text="Time from one backup to the next, in seconds; 0 means a single backup.",
            change=Change.NEXT_RUN,
            limits=Limits(minimum=0),
        ),
    ] = 0
    max_backups: Annotated[
        int,
        Field(
            text="How many backups are kept, the newest ones; 0 means all.",
            change=Change.NEXT_RUN,
            limits=Limits(minimum=0),
        ),
    ] = 0


class BackupSpec(Part, frozen=True):
    """What is backed up, where to and how often."""

    RULES: ClassVar = (exactly_one_block(), named_block("storageType"))

    etcd_endpoints: Annotated[
        tuple[str, ...],
        Field(
            text="URLs under which clients reach the cluster; one that answers is enough.",
            change=Change.NEXT_RUN,
            limits=Limits(min_items=1),
        ),
    ]
    storage_type: Annotated[
        StorageType,
        Field(text="Which of the storages below is used: S3, ABS, GCS or OSS.", change=Change.NEXT_RUN),
    ]
    backup_policy: Annotated[
        BackupPolicy | None,
        Field(
            text="How often a backup is taken, how long it may take and how many are kept.",
            absent="a single backup",
            change=Change.NEXT_RUN,
        ),
    ] = None
    s3: Annotated[
        S3Storage | None,
        Field(text="S3, or a server that speaks its protocol.", absent="not used", change=Change.NEXT_RUN),
    ] = None
    abs: Annotated[AbsStorage | None, Field(text="Azure Blob Storage.", absent="not used", change=Change.NEXT_RUN)] = (
        None
    )
    gcs: Annotated[
        GcsStorage | None, Field(text="Google Cloud Storage.", absent="not used", change=Change.NEXT_RUN)
    ] = None
    oss: Annotated[
        OssStorage | None,
        Field(text="Alibaba Cloud's object storage.", absent="not used", change=Change.NEXT_RUN),
    ] = None
    client_tls_secret: Annotated[
        str,
        Field(
            text="Secret with the certificates shown to members, where clients need TLS. "
            "Its keys are etcd-client.crt, etcd-client.key and etcd-client-ca.crt.",
            absent="no TLS",
            change=Change.NEXT_RUN,
        ),
    ] = msgspec.field(name="clientTLSSecret", default="")


class BackupStatus(Part, frozen=True):
    """What became of the newest try, and of the newest good one."""

    observed_generation: Annotated[int | None, Field(text="The generation of the spec this status is about.")] = None
    phase: Annotated[str | None, Field(text="Pending, Running, Waiting (for the next), Succeeded or Failed.")] = None
    succeeded: Annotated[bool | None, Field(text="Whether the newest try stored a backup.")] = None
    reason: Annotated[str | None, Field(text="Why the newest try failed.")] = msgspec.field(name="Reason", default=None)
    conditions: Annotated[
        tuple[Condition, ...] | None,
        Field(text="What is so and what is not, with the reason.", keys=("type",)),
    ] = None
    cluster: Annotated[str | None, Field(text="Name of the cluster that was backed up.")] = None
    etcd_version: Annotated[str | None, Field(text="Version of etcd that the newest good backup is from.")] = None
    etcd_revision: Annotated[int | None, Field(text="Revision of the data in the newest good backup.")] = None
    last_success_date: Annotated[datetime | None, Field(text="When the newest good backup was taken.")] = None
    object: Annotated[str | None, Field(text="Bucket and key under which the newest good backup lies.")] = None
    size: Annotated[str | None, Field(text="Size of the newest good backup, such as 41Mi; for display only.")] = None
    took: Annotated[str | None, Field(text="How long the newest good backup took, as 12s; for display only.")] = None


class EtcdBackup(msgspec.Struct, frozen=True, kw_only=True):
    """A backup of an etcd cluster, once or periodically."""

    metadata: Metadata
    spec: Annotated[BackupSpec, Field(text="What is backed up, where to and how often.")]
    status: Annotated[BackupStatus, Field(text="What became of it.")] = BackupStatus()
