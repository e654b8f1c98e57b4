"""The definitions as the old operator made them: names, and nothing said of what is inside."""

from __future__ import annotations

from functools import partial
from typing import Any

from box.kube.api import ApiError
from tests.box.api.definitions import collection, put, shipped
from tests.box.driving import Box, eventually

Object = dict[str, Any]


def schemaless(definition: Object) -> Object:
    """As Kubernetes shows what the old operator made: everything is kept, and status is no subresource."""
    names = {key: definition["spec"]["names"][key] for key in ("kind", "listKind", "plural", "singular")}
    if names["kind"] == "EtcdCluster":
        names["shortNames"] = ["etcd"]
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1beta2", "served": True, "storage": True, "schema": {"openAPIV3Schema": anything}}
    return {
        "apiVersion": definition["apiVersion"],
        "kind": definition["kind"],
        "metadata": {"name": definition["metadata"]["name"]},
        "spec": {"group": definition["spec"]["group"], "scope": "Namespaced", "names": names, "versions": [version]},
    }


def go_back(box: Box) -> None:
    """Put the old definitions in the place of ours and wait until they are what is served."""
    for definition in shipped():
        put(box, schemaless(definition))
    for definition in shipped():
        kind = definition["spec"]["names"]["kind"]
        eventually(partial(takes_anything, box, kind), within=60, pause=0.05)


def takes_anything(box: Box, kind: str) -> bool:
    odd = {"apiVersion": "etcd.database.coreos.com/v1beta2", "kind": kind, "metadata": {"name": "odd"}, "odd": 1}
    try:
        return "odd" in box.api.request("POST", collection(kind), query={"dryRun": "All"}, body=odd)
    except ApiError as error:
        if error.status not in {404, 422}:
            raise
        return False
