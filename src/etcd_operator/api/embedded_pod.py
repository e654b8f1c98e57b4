"""What a pod's containers get: resources, variables, a security context, pull secrets, as Kubernetes 1.36 has them."""

from __future__ import annotations

from etcd_operator.api.field import Embedded, Schema
from etcd_operator.api.schema import array, boolean, integer, quantities, quantity, string, strings, table

RESOURCES = Embedded(
    "ResourceRequirements",
    table(
        "What a container may use.",
        {
            "claims": {
                **array(
                    table(
                        "One claim of the pod that is used.",
                        {
                            "name": string("The claim's name in the pod's resourceClaims."),
                            "request": string("One request of the claim; none means all that the claim gives."),
                        },
                        required=("name",),
                    ),
                    "Claims on devices, by name.",
                ),
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["name"],
            },
            "limits": quantities("The most that may be used, by resource: cpu, memory, ephemeral-storage and others."),
            "requests": quantities("What is set aside on the node, by resource; where left out, the limit counts."),
        },
    ),
)


def key_of(thing: str) -> Schema:
    """A reference to one key of a secret or config map."""
    return table(
        f"Take the value from a {thing} of the same namespace.",
        {
            "key": string(f"The key inside the {thing}."),
            "name": string(f"The {thing}'s name."),
            "optional": boolean("Whether the variable is left out, instead of the pod held back, when it is missing."),
        },
        required=("key",),
        atomic=True,
    )


VALUE_FROM = table(
    "Where the value comes from, if it is not given here.",
    {
        "configMapKeyRef": key_of("config map"),
        "fieldRef": table(
            "Take the value from a field of the pod.",
            {
                "apiVersion": string("The API version in which the field is named; v1 if left out."),
                "fieldPath": string("The field, such as metadata.name or status.podIP."),
            },
            required=("fieldPath",),
            atomic=True,
        ),
        "fileKeyRef": table(
            "Take the value from a file of variables on a volume of the pod.",
            {
                "key": string("The variable's name in the file."),
                "optional": boolean("Whether the variable is left out when the file or the key is missing."),
                "path": string("The file's path inside the volume."),
                "volumeName": string("The volume's name in the pod."),
            },
            required=("volumeName", "path", "key"),
            atomic=True,
        ),
        "resourceFieldRef": table(
            "Take the value from a resource request or limit of a container.",
            {
                "containerName": string("The container's name; this one if left out."),
                "divisor": quantity("The unit in which the amount is told; 1 if left out."),
                "resource": string("The resource, such as limits.cpu or requests.memory."),
            },
            required=("resource",),
            atomic=True,
        ),
        "secretKeyRef": key_of("secret"),
    },
)

VARIABLE = Embedded(
    "EnvVar",
    table(
        "One environment variable.",
        {
            "name": string("The variable's name, such as ETCD_QUOTA_BACKEND_BYTES."),
            "value": string("The value; $(OTHER) stands for a variable given before this one."),
            "valueFrom": VALUE_FROM,
        },
        required=("name",),
    ),
)


def profile(text: str) -> Schema:
    return table(
        text,
        {
            "localhostProfile": string("The profile's name on the node; with type Localhost only."),
            "type": string("Which profile: Localhost, RuntimeDefault or Unconfined."),
        },
        required=("type",),
    )


SECURITY_CONTEXT = Embedded(
    "PodSecurityContext",
    table(
        "Who a pod runs as.",
        {
            "appArmorProfile": profile("The AppArmor profile of all containers; not on Windows."),
            "fsGroup": integer("The group that owns the volumes, as a number; etcd's files are readable for it."),
            "fsGroupChangePolicy": string("When volumes are given to fsGroup: Always (the default) or OnRootMismatch."),
            "runAsGroup": integer("The group that processes run as, as a number."),
            "runAsNonRoot": boolean("Whether the kubelet refuses to start a container that would run as root."),
            "runAsUser": integer("The user that processes run as, as a number."),
            "seLinuxChangePolicy": string("How SELinux labels get onto volumes: Recursive or MountOption."),
            "seLinuxOptions": table(
                "The SELinux label of all containers; not on Windows.",
                {
                    "level": string("The level part of the label."),
                    "role": string("The role part of the label."),
                    "type": string("The type part of the label."),
                    "user": string("The user part of the label."),
                },
            ),
            "seccompProfile": profile("The seccomp profile of all containers; not on Windows."),
            "supplementalGroups": {
                **strings("Further groups that processes belong to, as numbers."),
                "items": {"type": "integer", "format": "int64"},
            },
            "supplementalGroupsPolicy": string("How groups of the image count: Merge (the default) or Strict."),
            "sysctls": array(
                table(
                    "One kernel parameter.",
                    {"name": string("The parameter's name."), "value": string("The value it gets.")},
                    required=("name", "value"),
                ),
                "Kernel parameters of the pod's own namespaces; the kubelet must allow them.",
            ),
            "windowsOptions": table(
                "Settings for Windows nodes, where no etcd image of ours runs; passed on as they are.",
                {
                    "gmsaCredentialSpec": string("The content of the GMSA credential spec."),
                    "gmsaCredentialSpecName": string("The name of the GMSA credential spec."),
                    "hostProcess": boolean("Whether containers run as host processes."),
                    "runAsUserName": string("The Windows user that processes run as."),
                },
            ),
        },
    ),
)

SECRET_REFERENCE = Embedded(
    "LocalObjectReference",
    table(
        "One secret of the cluster's namespace.",
        {"name": string("The secret's name.")},
        required=("name",),
        atomic=True,
    ),
)
