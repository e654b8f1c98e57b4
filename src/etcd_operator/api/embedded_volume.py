"""The volume a member asks for: a claim's spec, as Kubernetes 1.36 has it."""

from __future__ import annotations

from etcd_operator.api.embedded_scheduling import label_selector
from etcd_operator.api.field import Embedded
from etcd_operator.api.schema import quantities, string, strings, table

SOURCE_FIELDS = {
    "apiGroup": string("The API group of the object; none means the core group."),
    "kind": string("The kind of the object, such as VolumeSnapshot or PersistentVolumeClaim."),
    "name": string("The name of the object."),
}

CLAIM = Embedded(
    "PersistentVolumeClaimSpec",
    table(
        "What is asked of a volume.",
        {
            "accessModes": strings("How the volume may be mounted; ReadWriteOnce or ReadWriteOncePod suits a member."),
            "dataSource": table(
                "An object of the namespace whose content the volume starts with; not useful for members.",
                SOURCE_FIELDS,
                required=("kind", "name"),
                atomic=True,
            ),
            "dataSourceRef": table(
                "As dataSource, for any kind of object, also of another namespace; not useful for members.",
                {**SOURCE_FIELDS, "namespace": string("The namespace of the object; this one if left out.")},
                required=("kind", "name"),
            ),
            "resources": table(
                "How large the volume is.",
                {
                    "limits": quantities("The most the volume may hold, as storage; few provisioners look at it."),
                    "requests": quantities("The least the volume must hold, as storage: 8Gi suits most clusters."),
                },
            ),
            "selector": label_selector("Which volumes may be taken, by their labels; for volumes made by hand."),
            "storageClassName": string("The storage class that makes the volume; the cluster's default if left out."),
            "volumeAttributesClassName": string(
                "The class of the volume's performance settings, if the driver has any."
            ),
            "volumeMode": string("Filesystem, the default; Block does not work for etcd."),
            "volumeName": string("The name of one volume to bind; not useful, as every member needs one of its own."),
        },
    ),
)
