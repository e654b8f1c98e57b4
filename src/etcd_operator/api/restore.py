"""EtcdRestore: a cluster is rebuilt from a backup."""

from __future__ import annotations

from typing import Annotated, ClassVar

import msgspec

from etcd_operator.api.condition import Condition
from etcd_operator.api.field import Change, Field, Limits, Rule
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


class ClusterReference(Part, frozen=True):
    """A cluster of the same namespace."""

    name: Annotated[
        str,
        Field(
            text="Name of the EtcdCluster that gets the data, in the same namespace.",
            change=Change.ONCE,
            limits=Limits(min_length=1, max_length=253),
        ),
    ]


class RestoreSpec(Part, frozen=True):
    """Which backup goes into which cluster."""

    RULES: ClassVar[tuple[Rule, ...]] = (exactly_one_block(), named_block("backupStorageType"))

    backup_storage_type: Annotated[
        StorageType,
        Field(text="Which of the storages below holds the backup: S3, ABS, GCS or OSS.", change=Change.ONCE),
    ]
    etcd_cluster: Annotated[
        ClusterReference,
        Field(text="The cluster that gets the data of the backup in place of its own.", change=Change.ONCE),
    ]
    s3: Annotated[
        S3Storage | None,
        Field(text="S3, or a server that speaks its protocol.", absent="not used", change=Change.ONCE),
    ] = None
    abs: Annotated[AbsStorage | None, Field(text="Azure Blob Storage.", absent="not used", change=Change.ONCE)] = None
    gcs: Annotated[GcsStorage | None, Field(text="Google Cloud Storage.", absent="not used", change=Change.ONCE)] = None
    oss: Annotated[
        OssStorage | None, Field(text="Alibaba Cloud's object storage.", absent="not used", change=Change.ONCE)
    ] = None


class RestoreStatus(Part, frozen=True):
    """How far the restore is."""

    observed_generation: Annotated[int | None, Field(text="The generation of the spec this status is about.")] = None
    succeeded: Annotated[bool | None, Field(text="Whether the cluster runs with the data of the backup.")] = None
    reason: Annotated[str | None, Field(text="Why the restore failed.")] = None
    conditions: Annotated[
        tuple[Condition, ...] | None,
        Field(text="What is so and what is not, with the reason.", keys=("type",)),
    ] = None
    step: Annotated[str | None, Field(text="The step under way, such as 2/4 SeedingFirstMember; for display only.")] = (
        None
    )
    source: Annotated[str | None, Field(text="The backup that is read, with its storage; for display only.")] = None


class EtcdRestore(msgspec.Struct, frozen=True, kw_only=True):
    """A restore of a backup into an etcd cluster."""

    metadata: Metadata
    spec: Annotated[RestoreSpec, Field(text="Which backup goes into which cluster.")]
    status: Annotated[RestoreStatus, Field(text="How far the restore is.")] = RestoreStatus()
