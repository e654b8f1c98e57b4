"""The two services of a cluster: one by which clients find it, one by which members find each other."""

from __future__ import annotations

from etcd_operator.api.cluster import EtcdCluster
from etcd_operator.api.cluster_names import CLIENT_PORT, PEER_PORT, client_service_name, peer_service_name, selector
from etcd_operator.cluster.metadata import owned
from etcd_operator.kube.objects import Manifest

# What `publishNotReadyAddresses` was before it was a field. The old operator's services have it; the two must agree.
TOLERATE_UNREADY = "service.alpha.kubernetes.io/tolerate-unready-endpoints"


def client_service(cluster: EtcdCluster) -> Manifest:
    """Leads to ready members only: a learner or a member that is about to go refuses clients."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            **owned(cluster, name=client_service_name(cluster), labels=selector(cluster)),
            "annotations": {TOLERATE_UNREADY: "false"},
        },
        "spec": {
            "type": "ClusterIP",
            "publishNotReadyAddresses": False,
            "selector": selector(cluster),
            "ports": [_port("client", CLIENT_PORT)],
        },
    }


def peer_service(cluster: EtcdCluster) -> Manifest:
    """DNS for members, also before they are ready: peers must find each other to become so."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            **owned(cluster, name=peer_service_name(cluster), labels=selector(cluster)),
            "annotations": {TOLERATE_UNREADY: "true"},
        },
        "spec": {
            "type": "ClusterIP",
            "clusterIP": "None",
            "publishNotReadyAddresses": True,
            "selector": selector(cluster),
            "ports": [_port("client", CLIENT_PORT), _port("peer", PEER_PORT)],
        },
    }


def _port(name: str, number: int) -> Manifest:
    return {"name": name, "port": number, "targetPort": number, "protocol": "TCP"}
