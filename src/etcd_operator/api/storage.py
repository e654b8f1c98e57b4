"""Where backups lie: four kinds of object storage, the same fields for writing and for reading."""

from __future__ import annotations

from typing import Annotated, Literal

from etcd_operator.api.field import Change, Field, Limits, Rule
from etcd_operator.api.stored import Part

StorageType = Literal["S3", "ABS", "GCS", "OSS"]

# The longest there is: on Google a bucket of 222 characters, a slash and a key of 1024.
PATH = Limits(max_length=1247)

BLOCKS: dict[StorageType, str] = {"S3": "s3", "ABS": "abs", "GCS": "gcs", "OSS": "oss"}


def _path(block: str, first: str) -> Rule:
    return Rule(
        "self.matches('^[^/:]+/.+')",  # no store allows a colon there, and people do write s3://bucket/key
        f"spec.{block}.path must be <{first}>/<key>, with neither part empty and no scheme such as s3:// in front",
    )


def exactly_one_block() -> Rule:
    given = ", ".join(f"has(self.{block})" for block in BLOCKS.values())
    return Rule(
        f"[{given}].filter(given, given).size() == 1",
        f"exactly one of {', '.join(f'spec.{block}' for block in BLOCKS.values())} must be given",
    )


def named_block(selector: str) -> Rule:
    """The block that is given is the one that `selector` names."""
    fits = " || ".join(f"(self.{selector} == '{kind}' && has(self.{block}))" for kind, block in BLOCKS.items())
    return Rule(
        f"!has(self.{selector}) || {fits}",
        f"spec.{selector} must name the storage that is given: "
        + ", ".join(f"{kind} needs spec.{block}" for kind, block in BLOCKS.items()),
    )


class S3Storage(Part, frozen=True):
    """A bucket of S3, or of a server that speaks its protocol."""

    path: Annotated[
        str,
        Field(
            text="Bucket and key of the backup, as <bucket>/<key>. Periodic backups add revision and time to the key.",
            change=Change.EACH_RUN,
            limits=PATH,
            rules=(_path("s3", "bucket"),),
        ),
    ]
    aws_secret: Annotated[
        str,
        Field(
            text="Secret with the credentials. Its keys are credentials and config, files as AWS tools have them.",
            absent="what the node or the service account may do",
            change=Change.EACH_RUN,
        ),
    ] = ""
    endpoint: Annotated[
        str,
        Field(text="URL of the server.", absent="AWS, in the region of the secret", change=Change.EACH_RUN),
    ] = ""
    force_path_style: Annotated[
        bool,
        Field(text="Whether the bucket stands in the URL's path and not in its host name.", change=Change.EACH_RUN),
    ] = False


class AbsStorage(Part, frozen=True):
    """A container of Azure Blob Storage."""

    path: Annotated[
        str,
        Field(
            text="Container and key of the backup, as <container>/<key>. "
            "Periodic backups add revision and time to the key.",
            change=Change.EACH_RUN,
            limits=PATH,
            rules=(_path("abs", "container"),),
        ),
    ]
    abs_secret: Annotated[
        str,
        Field(
            text="Secret with the credentials. Its keys are storage-account, storage-key and, if not public, cloud.",
            absent="what the node or the service account may do",
            change=Change.EACH_RUN,
        ),
    ] = ""


class GcsStorage(Part, frozen=True):
    """A bucket of Google Cloud Storage."""

    path: Annotated[
        str,
        Field(
            text="Bucket and key of the backup, as <bucket>/<key>. Periodic backups add revision and time to the key.",
            change=Change.EACH_RUN,
            limits=PATH,
            rules=(_path("gcs", "bucket"),),
        ),
    ]
    gcp_secret: Annotated[
        str,
        Field(
            text="Secret with the credentials. Its key is access-token or credentials.json.",
            absent="the application default credentials",
            change=Change.EACH_RUN,
        ),
    ] = ""


class OssStorage(Part, frozen=True):
    """A bucket of Alibaba Cloud's object storage."""

    path: Annotated[
        str,
        Field(
            text="Bucket and key of the backup, as <bucket>/<key>. Periodic backups add revision and time to the key.",
            change=Change.EACH_RUN,
            limits=PATH,
            rules=(_path("oss", "bucket"),),
        ),
    ]
    oss_secret: Annotated[
        str,
        Field(
            text="Secret with the credentials. Its keys are accessKeyID and accessKeySecret.",
            absent="none, which no real bucket accepts",
            change=Change.EACH_RUN,
        ),
    ] = ""
    endpoint: Annotated[
        str,
        Field(text="URL of the server.", absent="the public one of the region Hangzhou", change=Change.EACH_RUN),
    ] = ""
