"""The user's own labels and annotations on members' pods, which change without a restart.

Which of a pod's are the user's is noted on it: what was taken out of the spec goes, and what somebody else has put
there stays. What is the operator's is never taken from the user, not even before it has a value: the guard believes it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from etcd_operator.api.cluster import EtcdCluster
from etcd_operator.api.cluster_names import VERSION, member_labels
from etcd_operator.api.names import GROUP
from etcd_operator.api.pod_policy import PodPolicy
from etcd_operator.kube.objects import Manifest, Metadata

WORN = f"{GROUP}/worn"  # annotation: the names of labels and annotations that came from the spec


def their_labels(cluster: EtcdCluster, member: str) -> dict[str, str]:
    theirs = (cluster.spec.pod or PodPolicy()).labels or {}
    ours = member_labels(cluster, member)
    return {name: value for name, value in theirs.items() if name not in ours}


def their_annotations(cluster: EtcdCluster) -> dict[str, str]:
    theirs = (cluster.spec.pod or PodPolicy()).annotations or {}
    return {name: value for name, value in theirs.items() if is_theirs(name)}


def is_theirs(annotation: str) -> bool:
    return annotation != VERSION and not annotation.startswith(f"{GROUP}/")


def note(cluster: EtcdCluster, member: str) -> dict[str, str]:
    """As an annotation; none where the spec gives none."""
    names = {"labels": sorted(their_labels(cluster, member)), "annotations": sorted(their_annotations(cluster))}
    worn = {kind: found for kind, found in names.items() if found}
    return {WORN: json.dumps(worn, separators=(",", ":"))} if worn else {}


def change(cluster: EtcdCluster, pod: Metadata) -> Manifest | None:
    """What to patch on a pod so that it wears what the spec says; None if it does."""
    wished = {
        "labels": their_labels(cluster, pod.name),
        "annotations": {**their_annotations(cluster), **note(cluster, pod.name)},
    }
    worn, ours = _worn(pod), member_labels(cluster, pod.name)
    labels = [name for name in worn["labels"] if name not in ours]
    annotations = [name for name in worn["annotations"] if is_theirs(name)]
    patch = {
        "labels": _difference(pod.labels, wished["labels"], labels),
        "annotations": _difference(pod.annotations, wished["annotations"], [*annotations, WORN]),
    }
    found = {kind: differing for kind, differing in patch.items() if differing}
    return {"metadata": {"uid": pod.uid, **found}} if found else None


def _difference(there: Mapping[str, str], wished: Mapping[str, str], worn: Iterable[str]) -> dict[str, str | None]:
    """`None` takes a name away."""
    dropped: dict[str, str | None] = {name: None for name in worn if name in there and name not in wished}
    return dropped | {name: value for name, value in wished.items() if there.get(name) != value}


def _worn(pod: Metadata) -> dict[str, list[str]]:
    """As noted on the pod. Somebody may have edited the note: what makes no sense there is nobody's."""
    try:
        found = json.loads(pod.annotations.get(WORN, "{}"))
    except ValueError:
        found = {}
    noted = found if isinstance(found, dict) else {}
    lists = {kind: noted.get(kind) for kind in ("labels", "annotations")}
    return {
        kind: [name for name in names if isinstance(name, str)] if isinstance(names, list) else []
        for kind, names in lists.items()
    }
