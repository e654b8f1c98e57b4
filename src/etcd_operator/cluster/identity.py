"""Who a member is, as it stands in annotations of its pod and of its claim: in hexadecimal digits, as etcd prints it.

The guard in the pod reads the same text, and whatever stands there means to it that the member has run. So a text that
cannot be read is no identity here and yet keeps an emptied disk from being started.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

import msgspec

from etcd_operator.api.cluster_names import IDENTITY
from etcd_operator.plan.view import Identity


class _Written(msgspec.Struct, frozen=True):
    cluster_id: str = msgspec.field(name="clusterID")
    member_id: str = msgspec.field(name="memberID")


def written(identity: Identity) -> str:
    return json.dumps({"clusterID": f"{identity.cluster_id:x}", "memberID": f"{identity.member_id:x}"})


def identity_in(annotations: Mapping[str, str]) -> Identity | None:
    try:
        found = msgspec.json.decode(annotations.get(IDENTITY, ""), type=_Written)
        return Identity(cluster_id=int(found.cluster_id, 16), member_id=int(found.member_id, 16))
    except (msgspec.DecodeError, ValueError):
        return None
