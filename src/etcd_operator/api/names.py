"""The names that stand in users' files and in every cluster, and so never change."""

from __future__ import annotations

GROUP = "etcd.database.coreos.com"
VERSION = "v1beta2"
API_VERSION = f"{GROUP}/{VERSION}"

# On a CRD: a number that grows with each change of the schema; no operator replaces a CRD by one of a lower number.
CRD_REVISION = f"{GROUP}/crd-revision"
